"""The rows of the evidence as tables.

simulation.py  the tables of the paper's simulation study
casestudy.py   the tables of its case study
real.py        the tables of the campaigns on real tables
dial.py        the tables of the worlds with a dial
cells.py       numbers as they stand in a table
summary.py     many seeds of one method summarised, beside working alone
table.py       a table as text, Markdown or LaTeX
"""
