"""Who changes a site's file: the user's account on this computer, and the door through which the change came."""

from __future__ import annotations

import getpass
import os
from enum import StrEnum

LONGEST = 64  # characters of an account's name


class Door(StrEnum):
    """The ways to a site's file."""

    PAGE = "page"
    COMMANDS = "command line"
    PROGRAM = "program"  # cboc work
    PYTHON = "python"


def author(door: Door) -> str:
    """Who writes, in words: 'anna, command line'."""
    return f"{_account()}, {door}"


def _account() -> str:
    """The name of the account that this process runs under; what the environment says counts where nothing else is."""
    try:
        import pwd

        name = pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):  # Windows, or a container whose account has no name
        try:
            name = getpass.getuser()
        except (OSError, KeyError, ImportError):
            name = "somebody"
    return "".join(c for c in name if c.isprintable())[:LONGEST] or "somebody"
