"""The server of a peer: it offers what a site has to the site's neighbours, and to nobody else.

It opens the site's file of feeds and nothing else: it has no way to an outcome.

answers.py   who is given what
app.py       two requests over HTTPS: who are you, and what do you have that I do not
serving.py   the server of one site, and how it asks its neighbours now and then
"""
