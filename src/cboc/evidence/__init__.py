"""The evidence: the paper's experiments, its rivals, and what they measure.

paper.py         the rows of the paper's tables, and their published numbers
scenario.py      a problem, how many sites share it, how far they differ
case.py          the conditions that are the same for every method
methods/         ours and its rivals
job.py           one run of one method, and the row it leaves
runner.py        many jobs; engines/ is where they run
results.py       the directory of all rows
tables/          rows as tables
figures/         rows as pictures
theory.py        Theorem 1, examined in runs
illustration.py  the example of Sec. 5.2
biosensor/       the paper's sensor, by finite elements
casestudy.py     the case study in runs
real/            reactions and mixtures that were measured in full, with natural sites
dial.py          when does it help: worlds in which one turns how much sites have in common
demo.py          what `cboc demo` runs
"""
