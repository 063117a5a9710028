"""Joining a study, through a coordinator or a shared folder.

join.py         a site from its file, the first time and every time after
coordinator.py  through a coordinator: an address, an invitation, a token
folder.py       through a shared folder: feeds, keys
agreement.py    the agreement in a site's file
"""

from cboc.joining.join import connect, has_own_strategy, join, kept_policy

__all__ = ["connect", "has_own_strategy", "join", "kept_policy"]
