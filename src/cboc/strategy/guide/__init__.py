"""Being drawn to the others' best designs: the invention of this library, not of the paper.

guide.py       whether to share at all, and how far to be drawn
strategy.py    a strategy with a guide
utility.py     a utility that is drawn
density.py     where the sites' optima seem to lie
background.py  where designs lie if nothing is known
"""
