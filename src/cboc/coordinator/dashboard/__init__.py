"""The dashboard: where the studies stand, for people.

pages.py     the addresses and what they show; templates/ is how it looks
admission.py who is admitted to what: every page, form, chart and count asks there
inviting.py  inviting and revoking, for owners
overview.py  what people can see of a study
charts.py    W and the proposals as pictures
"""
