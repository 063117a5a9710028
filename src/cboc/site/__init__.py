"""How a site behaves: it asks for a design, and tells the outcome.

site.py       one participant of a study: ask, tell, fail, abandon, reopen
policy.py     how it behaves, whatever the study
mind.py       what it knows and thinks before a trial
counted.py    which experiment of how many a trial is
batch.py      sites of one process think together
copies.py     are several copies of it in use?
ending.py     why it takes no more turns: it has finished, or it has left
trial.py      one experiment, from proposal to result
turn.py       its part in the exchange: proposed, heard, answered, decided
origin.py     where its design comes from, in a plain sentence and in numbers
logbook.py    all trials of a site, and the data they leave
table.py      all its results as the table that a lab keeps
outcomes.py   what it measures and wants, in words
worksheet.py  trials as a sheet to fill in, and back
columns.py    the columns of that sheet
left.py       what others were given of a trial, and keep
remark.py     what a person writes beside a trial
plate.py      how many experiments at once, and in what they agree
polling.py    how often to ask while waiting for others
"""
