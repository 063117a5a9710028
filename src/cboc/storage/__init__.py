"""Where a site, or a simulation, keeps its rows.

sitefile.py  a site's own file: trials, settings, a copy of every message that left
rows.py      its tables, in which every row has a checksum
author.py    who changes it
takeover.py  takes over the files of earlier versions
journal.py   the journal of a simulation, as lines of JSON
chain.py     the checksums of its lines
shape.py     which rows a study can have
formats.py   converts what version 0.1.0 wrote to today's form
lock.py      one writer at a time
"""
