"""Joining a study, through a coordinator or without one.

join.py         a site from its file, the first time and every time after
coordinator.py  through a coordinator: an address, an invitation, a token
feeds.py        without a centre: through a shared folder, or by files on a stick
agreement.py    the agreement in a site's file
"""

from cboc.joining.join import connect, has_own_strategy, join, kept_policy

__all__ = ["connect", "has_own_strategy", "join", "kept_policy"]
