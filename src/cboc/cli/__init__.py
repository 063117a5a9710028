"""The command line: a thin layer of words over the library.

app.py       the commands and what they say of themselves
simulate.py  a study together and alone, resumable
run.py       the directory of a run: its record and its journals
demo.py      the demonstration
show.py      tables, JSON and CSV
export.py    every trial, and the best of each site
pictures.py  from a run to pictures
lab.py       the commands of a site
audit.py     everything that ever left a site
doctor.py    is everything there that a site needs?
local.py     a site's own page, on its own machine
coordinator.py  the commands of who runs a coordinator
operations.py   backup and restore
rehearsal.py a coordinator and three sites on one machine
workers.py   many simulations at once
bar.py       the progress bar
"""
