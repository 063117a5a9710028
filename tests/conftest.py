"""For a busy machine: linear algebra in one thread, as two that wait for each other take minutes, and no deadlines.

And for a run in the background, whose Ctrl-C a shell turns off: what the tests start would ignore it, too.
"""

import os
import signal

from hypothesis import settings

from .machine.chromium import browser as browser
from .machine.postgresql import mortal as mortal
from .machine.postgresql import postgres as postgres

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
signal.signal(signal.SIGINT, signal.default_int_handler)
