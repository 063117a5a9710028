"""Pictures of the biosensor, each a function that returns a matplotlib Figure. Needs the extras `fem` and `plot`.

passage.py    what is drawn: a sample that passes the sensor, from the first drop until the coverage has had its peak
field.py      the concentration in the channel and in the thin layer above the sensor
coverage.py   how much of the sensor is covered, over time and along it
movie.py      both as an animated GIF
landscape.py  θ_max on the three planes through the optimum
designs.py    where the sites went, alone and together
"""

from cboc.evidence.figures.biosensor.coverage import coverage
from cboc.evidence.figures.biosensor.designs import designs
from cboc.evidence.figures.biosensor.field import field
from cboc.evidence.figures.biosensor.landscape import landscape
from cboc.evidence.figures.biosensor.movie import movie
from cboc.evidence.figures.biosensor.passage import Passage, record

__all__ = ["Passage", "coverage", "designs", "field", "landscape", "movie", "record"]
