"""How a site thinks: what to propose, and whether to follow the others.

situation.py      what a site knows when it is asked
opinion.py        what it thinks then: propose, judge; the seam for other people's optimisers
verdict.py        what is kept of that with a trial
bayesian.py       a surrogate and a utility on it
gate.py           run the mixed design, or the own one
guide/            being drawn to the others' best designs
collaborative.py  the default: all of these together
"""
