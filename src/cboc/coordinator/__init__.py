"""The coordinator: the ledger of a study over a database, behind HTTP. It never sees an outcome.

app.py              the web application
transactions.py     one transaction for every message
store.py            a ledger's rows in the tables
tokens.py           who may speak for a site: invitations and tokens
forms.py            the messages, field by field
errors.py           what is refused, and how that is said
rate_limit.py       a few tries in a while
metrics.py          counts, times and log lines for an operator

dashboard/          the pages for people
people.py           who may look at them

database.py         the tables, and how a database is opened
schema.py           bringing a database up to date; migrations/ are the steps
database_errors.py  one sentence for a database that does not do what it is asked
backup.py           everything in one file, and back
certificate.py      a certificate to try HTTPS with
"""
