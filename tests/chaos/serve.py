"""cboc peer serve, for plays that last for seconds: a neighbour that did not answer is asked again soon."""

import sys

from cboc.__main__ import main
from cboc.exchange.feeds import peers

if __name__ == "__main__":
    peers.PAUSE = 0.5
    sys.exit(main())
