"""Test problems: experiments that a computer can run, and the versions of them that sites have.

problem.py         a problem as a value: a name, a space, a function, its optimum
optimum.py         the lowest value of a function in a box
noise.py           measurements with an error
version.py         a function shifted, scaled and offset
heterogeneity.py   how much the sites of a study differ
sites.py           K problems made from one: related, unrelated, in groups, the same
synthetic.py       problems by name
functions.py       the paper's test functions
more_functions.py  further ones
tradeoffs.py       problems with several objectives
worlds.py          K problems that have as much in common as one asks for
draw.py            a function drawn from a Gaussian process
"""
