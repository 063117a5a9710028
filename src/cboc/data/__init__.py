"""What a site has measured. Private: nothing that travels imports this folder.

dataset.py       designs, outcomes, failures
objective.py     what is measured: an outcome for every objective, and how sure it is
goal.py          what a site wants of its outcomes: aims and limits
results.py       all outcomes of a site, and how good each result is
front.py         which results no other one beats, and the volume below them
fidelity.py      cheap and costly experiments
tables.py        datasets as CSV files and data frames
earlier/         results from before a study, in a table as somebody has kept it
headers.py       what people call a column
spreadsheets.py  tables as files that a spreadsheet opens
numbers.py       a number as people write it
"""
