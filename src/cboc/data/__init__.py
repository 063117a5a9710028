"""What a site has measured. Private: nothing that travels imports this folder.

dataset.py       designs, outcomes, failures
objective.py     what is measured: an outcome for every objective, and how sure it is
tables.py        datasets as CSV files and data frames
earlier/         results from before a study, in a table as somebody has kept it
headers.py       what people call a column
spreadsheets.py  tables as files that a spreadsheet opens
numbers.py       a number as people write it
"""
