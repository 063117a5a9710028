"""The common look of our web pages, the coordinator's and a site's own.

layout.py       templates, static files and the headers of every answer
same_origin.py  the rule against forms from other web sites
templates/      the layout
static/         the style sheet, the charts, and two third-party libraries
"""
