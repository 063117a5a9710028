"""A program of one's own as an experiment.

program.py   started for every design, in a directory and a process group of its own
fields.py    how a design gets into a text: {inflow}
readout.py   how a number is found in what the program left
"""

from cboc.program.program import Program

__all__ = ["Program"]
