"""Results from before a study, in a table as somebody has kept it: read as a person would, and shown before it counts.

preview.py   what of a table is taken as what, what is not, and what has to be asked
answers.py   questions about a table, and what people answer
grid.py      a table as cells, from wherever it comes
texts.py     CSV, in any of its forms
books.py     XLSX
frames.py    pandas and polars
heading.py   which line has the names of the columns
columns.py   which column is what
cells.py     what is in the cells of a column
numerals.py  numbers as a column writes them
rows.py      which rows are taken, and why others are not
"""
