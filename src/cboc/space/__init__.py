"""The designs that can be run: named parameters, linear constraints, and the unit cube that stands for them.

space.py        a space of designs: to the unit cube and back, sampling, projecting
parameters.py   Float, Int and Choice
digits.py       numbers in as few digits as an experiment can tell apart
plain.py        parameters as plain data, and shorthands for them
constraints.py  linear constraints as people write them
slice.py        designs that share some parameters' values
polytope.py     the part of the cube that constraints leave
sampling.py     uniform samples of a polytope
sobol.py        points that fill the cube evenly
"""
