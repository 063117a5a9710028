"""`cboc evidence`: one command for each piece of evidence.

command.py  the commands: which jobs to run
dial.py     the one for worlds with a dial
real.py     the one for real tables
options.py  the options that they share
shelves.py  a shelf for each kind of job: filling it, verifying it, showing it
reports.py  tables and pictures of a directory of results
"""

from cboc.cli.evidence.command import app

__all__ = ["app"]
