"""The rows of the evidence as tables.

simulation.py  those of the paper's simulation study
casestudy.py   those of its case study
summary.py     what many seeds of one method say, beside working alone
table.py       a table as text, Markdown or LaTeX
"""
