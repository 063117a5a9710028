"""The coordinator: the ledger of the core over a database, behind HTTP. It never sees an outcome.

sql.py       the tables, and a ledger's rows in them
exchange.py  one transaction for every message
door.py      who may speak for a site
app.py       the web application
"""
