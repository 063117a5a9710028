"""A site's own page, on the computer of whoever runs the experiments: the next design, and a form for its result.

app.py      the addresses of the page
door.py     who may look: nobody but the person who was given the address
bench.py    the site behind the page, opened anew from its file for every request
entry.py    what somebody typed, as outcomes and designs
digits.py   values as people write them
history.py  the site's own trials, as rows and as a picture
sent.py     what left the lab, in words
"""
