"""Three settings across the paper's box: the strongest response, one in the middle, the weakest."""

import os

from cboc.evidence.biosensor.response import Numerics, respond, states
from cboc.evidence.biosensor.sensor import Sensor, Setting

IS_LONG = os.environ.get("CBOC_VERIFY") == "long"
DESIGNS = {
    "hi": Setting(inflow=1e-2, receptors=1.8e-8, width=30.0),
    "mid": Setting(inflow=1e-3, receptors=2.5e-8, width=90.0),
    "lo": Setting(inflow=1e-4, receptors=3.3e-8, width=180.0),
}
COARSE = Numerics(fineness=0.5)


def peak(name, **numerics):
    return respond(DESIGNS[name], numerics=Numerics(**numerics)).peak


def state_at(t, setting, sensor=Sensor(), numerics=Numerics()):  # noqa: B008
    return next(state for state in states(setting, sensor, numerics) if state.t >= t * (1 - 1e-12))
