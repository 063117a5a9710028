"""The coordinator: the ledger of the core over a database, behind HTTP. It never sees an outcome.

sql.py          the tables, and how a database is opened
store.py        a ledger's rows in them
exchange.py     one transaction for every message
door.py         who may speak for a site
wire.py         the messages, field by field
app.py          the web application
refusals.py     what is refused, and how that is said
limiter.py      so many tries in a while
watch.py        counts, times and log lines for an operator

people.py       who may look at the pages
overview.py     what there is to see of a study
pages.py        the pages; templates/ and charts.py are how they look

schema.py       bringing a database up to date; migrations/ are the steps
trouble.py      one sentence for a database that does not do what it is asked
backup.py       everything in one file, and back
certificate.py  a certificate to try HTTPS with
"""
