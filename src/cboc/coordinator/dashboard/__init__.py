"""The dashboard: where the studies stand, for people.

pages.py     the addresses and what they show; templates/ is how it looks
overview.py  what people can see of a study
charts.py    W and the proposals as pictures
"""
