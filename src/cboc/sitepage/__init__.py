"""A site's own page, on the computer of whoever runs the experiments: the next design, and a form for its result.

app.py         the addresses of the page; templates/ is how it looks
access.py      who may look: nobody but the person who was given the address
session.py     the site behind the page, opened anew from its file for every request
form.py        what somebody typed, as outcomes and designs
formatting.py  values as people write them
history.py     the site's own trials, as rows and as a picture
outbox.py      what left the lab, in words
"""
