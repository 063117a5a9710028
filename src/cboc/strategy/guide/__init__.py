"""Guides draw a site to the others' best designs: an invention of this library, not of the paper.

decision.py       whether to share at all, and how far to be drawn
guided.py         a strategy with a guide
borrowing.py      when to run one of those designs to see for oneself
drawn_utility.py  a utility with a bonus near those designs
density.py        where the sites' optima seem to lie
background.py     where designs lie if nothing is known
"""
