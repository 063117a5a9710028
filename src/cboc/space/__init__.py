"""The designs that can be run: named parameters, linear constraints, and the unit cube that stands for them.

space.py        a space of designs: to the unit cube and back, sampling, projecting
parameters.py   Float and Int
choice.py       Choice
descriptors.py  what options are like
digits.py       numbers in as few digits as an experiment can tell apart
plain.py        parameters as plain data, and shorthands for them
fixed.py        parameters that a site cannot vary
narrowed.py     the space of a site that cannot vary all of them
listed.py       a list of candidates, the only designs that exist
constraints.py  linear constraints as people write them
slice.py        designs that share some parameters' values
polytope.py     the part of the cube that constraints leave
sampling.py     uniform samples of a polytope
sobol.py        points that fill the cube evenly
"""
