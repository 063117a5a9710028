"""`cboc evidence`: one command for each piece of evidence.

command.py  the commands: which jobs to run, where, and which are already done
reports.py  tables and pictures of a directory of results
"""

from cboc.cli.evidence.command import app

__all__ = ["app"]
