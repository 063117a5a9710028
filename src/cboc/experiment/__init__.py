"""An experiment: a function of a design, or a program that runs one.

experiment.py  what an experiment is, and how it fails
durations.py   how long simulated experiments take
program.py     any executable as an experiment
template.py    texts with fields for a program's input
readout.py     the number in a program's output
"""

from cboc.experiment.program import Program

__all__ = ["Program"]
