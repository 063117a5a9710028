"""The rows of the evidence as tables.

simulation.py  the tables of the paper's simulation study
casestudy.py   the tables of its case study
real.py        the tables of the campaigns on real tables
summary.py     many seeds of one method summarised, beside working alone
table.py       a table as text, Markdown or LaTeX
"""
