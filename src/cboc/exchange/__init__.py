"""What travels between sites, and what all of them agree on. It never sees an outcome.

study.py        the agreement: space, sites, horizon, rule, graph, pace
objective.py    what is measured: its name and its unit
tradeoffs.py    to which trade-off between several objectives a turn refers
pace.py         rounds, or none: from which proposals a turn is answered, and when
identity.py     a text that identifies a user's own rule, the same in every process
amendment.py    which changes a study that runs allows, and what they are in words
study_diff.py   where two agreements differ, in words
messages.py     a proposal goes out, a mix comes back
network.py      how a site reaches the others: the seam
store.py        where the facts are kept: proposals, closed states, departures
answers.py      what follows from the facts: who is expected, which W, whose design
ledger.py       the record of a study: what is added to the facts, and how a round closes
rest.py         a network through a coordinator
wire.py         every message between site and coordinator, field by field
http.py         how messages are sent, and how answers are read
invitation.py   an invitation as one file: address, code and certificate
certificate.py  a certificate of one's own, for TLS
feeds/          a network without a centre: signed feeds, and what carries them
"""
