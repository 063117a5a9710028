"""`cboc evidence`: the evidence, by one command each.

command.py  what is run, where, and what is already there
reports.py  tables and pictures of a directory of results
"""

from cboc.cli.evidence.command import app

__all__ = ["app"]
