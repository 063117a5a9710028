"""Where a site, or a simulation, keeps its rows.

sitefile.py  a site's own file: trials, settings, a copy of every message that left
journal.py   the journal of a simulation, as lines of JSON
shape.py     which rows a study can have
formats.py   converts what version 0.1.0 wrote to today's form
lock.py      one writer at a time
"""
