"""What travels between sites, and what all of them agree on. It never sees an outcome.

study.py        the agreement: space, sites, horizon, rule, graph
differences.py  where two agreements differ, in words
messages.py     a proposal goes out, an answer comes back
ledger.py       the rounds of a study: who is in, which W, whose design
rest.py         the same through a coordinator
answers.py      what a coordinator may answer, read strictly
"""
