"""A site's own page, on the experimenter's computer: the next design, and a form for its result.

app.py         the addresses of the page; templates/ is how it looks
access.py      access for nobody but the person who was given the address
doorstep.py    before there is a bench: an invitation file, the terms, joining
earlier.py     results from before the study, looked at before the site joins with them
session.py     the site behind the page, opened anew from its file for every request
received.py    the fields of a form, as a browser sends them
goal.py        what a site wants, from the form that joins
form.py        the typed fields as outcomes and designs, or as a plate
neighbours.py  how long ago the others were heard, in words
history.py     the site's own trials, as rows and as a picture
front.py       where each result stands among the others, and a trade-off to move
questions.py   a question before what is likely a mistake is kept
mending.py     each trial of the history can be corrected, taken back and annotated
past.py        what a trial was before, in words
learned/       what was learned from them, in words and pictures
downloads.py   all results as a file, for the site's own people
outbox.py      what left the lab, in words
"""
