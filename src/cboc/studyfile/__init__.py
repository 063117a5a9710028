"""A study as a TOML file, which a bench scientist edits and `cboc simulate` runs.

reading.py     TOML -> StudyFile
wanted.py      what is measured, and what each site wants of it
section.py     one table of the file, read key by key
sources.py     where a site's outcomes come from in a simulation
template.toml  what `cboc init` writes
"""

from cboc.studyfile.reading import StudyFile, Terms, read, read_experiment, read_terms, template

__all__ = ["StudyFile", "Terms", "read", "read_experiment", "read_terms", "template"]
