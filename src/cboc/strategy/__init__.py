"""How a site thinks: what to propose, and whether to follow the others.

situation.py      what a site knows when it is asked
opinion.py        what it thinks then: propose, judge; the interface for other optimisers
verdict.py        what a trial keeps of an opinion
bayesian.py       a surrogate and a utility on it
beliefs.py        surrogates of every outcome, where several count
gate.py           whether to run the mixed design or the site's own
guide/            being drawn to the others' best designs
collaborative.py  the default: all of these together
"""
