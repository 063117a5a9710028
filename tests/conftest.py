"""One thread for linear algebra: on a machine that is busy, two that wait for each other take minutes."""

import os

from .machine.chromium import browser as browser
from .machine.postgresql import mortal as mortal
from .machine.postgresql import postgres as postgres

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
