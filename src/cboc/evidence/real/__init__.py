"""Studies on real tables: reactions and mixtures that were measured in full, with natural sites.

families.py    the families of tables: their sites, spaces and directions
source.py      the files of a directory, and where a user gets each
lookup.py      a site's table as a problem: an experiment is a look-up
campaign.py    one method on one family, and the progress that it makes
provenance.py  which tables the results of a directory were made from
"""
