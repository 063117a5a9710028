"""What travels between sites, and what all of them agree on. It never sees an outcome.

study.py        the agreement: space, sites, horizon, rule, graph, deadline
rounds.py       from which proposals a turn is answered, and when
identity.py     what a rule of one's own is, in the same words in every process
study_diff.py   where two agreements differ, in words
messages.py     a proposal goes out, a mix comes back
network.py      how a site reaches the others: the seam
store.py        where the facts are kept: proposals, closed rounds, departures
ledger.py       the rounds of a study: who is in, which W, whose design
rest.py         the same through a coordinator
wire.py         every message between the two, field by field
http.py         how it gets there, and how an answer is read
"""
