"""A whole study in one process, and the record of it.

simulation.py   Algorithm 1: every site's experiments, until all budgets are spent
first_runs.py   stop if an experiment is set up wrongly
calendar.py     when experiments end, and who asks then
history.py      what happened, a row for every trial
metrics.py      how well a search went: Gap, area, lead
run.py          the directory of a run
course.py       how searches went, of a run or of one site, for pictures and reports
repetitions.py  a study file, together and alone, on several seeds
compare.py      what each site gains by working together
workers.py      many simulations at once, a process for each core
"""
