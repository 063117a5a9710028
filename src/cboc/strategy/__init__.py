"""How a site thinks: what to propose, and whether to follow the others.

situation.py  what a site knows when it is asked
bayesian.py   a surrogate and a utility on it
gate.py       run the mixed design, or the own one
guide/        being drawn to the others' best designs
"""
