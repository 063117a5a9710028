"""Should a site go on collaborating?

advice.py          an answer from its own data and the designs that were shared
spending.py        what its experiments have cost and taken
contradiction.py   neighbours whose best designs the own outcomes contradict
asking.py          what is asked before it is kept
slips.py           outcomes that are likely slips
counterfactual.py  what it would have found alone, by its own surrogate
"""
