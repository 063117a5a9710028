"""The common look of our web pages, the coordinator's and a site's own.

layout.py   templates, static files and the headers of every answer
templates/  the layout
static/     the style sheet, the charts, and two libraries of others
"""
