"""The methods of the tables: ours, other ways of collaborating, and not collaborating, under the same conditions.

registry.py      every method by name, with its settings
tuning.py        the grid of settings from which each was chosen
consensus.py     our own sites: alone, as published, behind a gate, guided; in rounds and at the free pace
controls.py      what is left of a gain when the peers know nothing
others_best.py   run the others' best designs first
bounding_box.py  search only where the best designs lie
starts.py        begin with other designs: the others' best, or for the null another draw
pooled.py        everybody's outcomes in one Gaussian process
rgpe.py          an ensemble of everybody's Gaussian processes
fts.py           federated Thompson sampling
features.py      random features, for functions that travel
accounting.py    what differential privacy costs
agent.py         a site that keeps its own books, for the methods that are not our consensus
"""
