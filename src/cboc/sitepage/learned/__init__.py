"""What was learned, on the site's own page.

pages.py     the addresses, and what is computed for them
slices.py    one parameter varies, as a picture
contours.py  two parameters vary
front.py     two objectives against each other
measures.py  which parameter matters, and predicted against measured
look.py      what the pictures have in common
"""
