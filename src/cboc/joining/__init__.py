"""Joining a study, through a coordinator or without one.

join.py         a site from its file, the first time and every time after
coordinator.py  through a coordinator: an address, an invitation, a token
invited.py      the same with an invitation file: its terms can be looked at first
terms.py        the terms of a study, before it is joined in any of these ways
feeds.py        without a centre: through a shared folder, by files on a stick, or between peers
moving.py       from a coordinator to feeds and back
wanted.py       what a site wants of its outcomes, in its file
own.py          parameters that only this site has
agreement.py    the agreement in a site's file
departure.py    whether a site has left its study
sent.py         everything that ever left a site
"""

from cboc.joining.join import connect, has_own_strategy, join, kept_policy
from cboc.joining.moving import move

__all__ = ["connect", "has_own_strategy", "join", "kept_policy", "move"]
