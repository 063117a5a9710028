"""`cboc report`: a directory of results as one page that can be mailed, printed and read on a phone.

command.py    the command, which recognises the kind of directory
casestudy.py  the sections of `cboc evidence biosensor`
study.py      the sections of a run of `cboc simulate`
own.py        the sections of a site's own file
learned.py    what was learned, of either
own.py        the sections of a site's own file
page.py       the frame around sections: style, policy, tables, facts, pictures
html.py       elements in which everything is escaped
"""

from cboc.cli.report.command import report

__all__ = ["report"]
