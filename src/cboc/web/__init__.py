"""What our servers have in common: the coordinator's, a peer's and that of a site's own page.

serving.py      how many connections a server has
connection.py   one connection: how long it may take

layout.py       templates, static files and the headers of every answer
same_origin.py  the rule against forms from other web sites
templates/      the layout
static/         the style sheet, the charts, and two third-party libraries
"""
