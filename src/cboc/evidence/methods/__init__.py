"""The methods of the tables: ours, other ways of collaborating, and not collaborating, under the same conditions.

registry.py    every method by name, with its settings
tuning.py      the grid of settings from which each was chosen
consensus.py   our own sites: alone, as published, behind a gate, guided
controls.py    what is left of a gain when the peers know nothing
pooled.py      everybody's outcomes in one Gaussian process
fts.py         federated Thompson sampling
features.py    random features, for functions that travel
accounting.py  what differential privacy costs
"""
