"""Feeds: without a centre, every site has one append-only, signed feed, and carriers only copy feeds.

keys.py          a site's keys, and the code by which two people compare them
entry.py         one signed entry of a feed: a head, what is said, designs
replica.py       the feeds of a study as far as they are known here, whatever order they came in
versions.py      which versions of a study are in force
record.py        the facts of a study as a ledger reads them from feeds
feedfile.py      a site's own file of feeds: what left, and what came. It has no place for an outcome
earlier.py       reads such files of the version before
network.py       a network that appends to the own feed, and answers from the replica
moving.py        the feed of a site that comes from a coordinator
handover.py      the past of a study, for a coordinator to go on from
carrier.py       how feeds get from site to site: the seam
folder.py        a shared folder
git.py           a shared folder that is a git working copy
clone.py         such a copy: what is committed, pulled and pushed, and what is done after a kill
bundle.py        one file, by mail or on a stick
sealing.py       entries that only neighbours can read
peers.py         neighbours that ask each other over HTTPS
arrival.py       the first contact of a peer: in which version its neighbours know the study
addresses.py     where the neighbours are, and who
visit.py         one visit to one neighbour
introduction.py  who is at the other end of a connection
request.py       what one site asks another for, signed
"""
