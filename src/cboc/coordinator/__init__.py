"""The coordinator: the ledger of a study over a database, behind HTTP. It never sees an outcome.

app.py              the web application
transactions.py     one transaction for every message
drafts.py           terms that nobody has agreed to yet
store.py            a ledger's rows in the tables
tokens.py           who may speak for a site: invitations and tokens
errors.py           refusals, and the sentences that state them
rate_limit.py       a limit on tries within a period
front.py            what the coordinator is called, and who stands before it
addresses.py        which network addresses count as one, and which proxies are believed
metrics.py          counts and times for an operator
log.py              lines of JSON, few enough

dashboard/          the pages for people
people.py           who may log in to them
rights.py           what each of them may see and do

database.py         the tables, and how a database is opened
schema.py           bringing a database up to date; migrations/ are the steps
database_errors.py  one sentence for each failure of the database
backup.py           everything in one file, and back
seal.py             the seal of that file, and its key
certificate.py      a certificate to try HTTPS with
"""
