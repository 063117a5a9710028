"""The command line: a thin layer of words over the library.

app.py          the commands and their help
simulate.py     `cboc simulate`, while it runs
export.py       `cboc export`: all experiments as a table
rows.py         every trial of a run, and the best of each site
best.py         the best result, or of several objectives the front
named.py        values with names, as they are typed: yield=83, cost=min
place.py        what a command looks at: a run, or a site's own file
advise.py       advice on every site of a run
pictures.py     pictures of a run, or of a site; view.py, captions.py
report/         a run, or the case study, as one HTML page
agreeing.py     a question before something is done
lab.py          the commands of a site
join.py         `cboc join`
earlier.py      results from before the study, looked at before they count
address.py      the addresses that a person may give
sheet.py        what `cboc ask` prints
standing.py     what `cboc status` prints
site_option.py  the site's own file, as an option and in hints
telling.py      tell what came of an experiment, after a question if it is likely a mistake
mending.py      take back what was told, remark on it, see what it was before
work.py         a site whose experiments run by themselves
amending.py     change a study that runs, and accept the change
leaving.py      leave the study
notify.py       where people are told what is to be run
notifying.py    tell them what becomes of a command
feed.py         feeds in a file, by mail or on a stick
peer.py         sites that reach each other over HTTPS
move.py         a study that goes on elsewhere
audit.py        everything that ever left a site
doctor.py       check that a site has everything it needs
local.py        a site's own page, on its own machine
coordinator.py  the commands for running a coordinator
invitations.py  invite a site, and look at what an invitation is for
people.py       who may log in there, and who sees which study
operations.py   backup and restore
demos.py        what collaboration is worth, and sites at work on this machine
rehearsal.py    a coordinator and three sites on one machine
evidence/       `cboc evidence`
biosensor.py    one simulation of the case study's sensor
show.py         tables, JSON and CSV
progress_bar.py the progress bar
notes.py        what a command says beside its result
"""
