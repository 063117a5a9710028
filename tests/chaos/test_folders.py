"""Sites that share nothing but a badly copied folder, and are killed: nothing is lost, and no mix is wrong.

`python -m tests.chaos` plays for longer.
"""

import pytest

from .checker import Checker
from .folders import Folders
from .play import play
from .setting import Setting


@pytest.mark.parametrize(
    "setting",
    [
        Setting("rounds", "leader", "ring", sealed=True, sites=4, seed=1),
        Setting("free", "uniform", "complete", seed=2),
    ],
    ids=str,
)
def test_nothing_is_lost_and_no_mix_is_wrong(tmp_path, setting):
    transport = Folders(setting, tmp_path)
    done = play(setting, transport, tmp_path)
    assert done["kills"] == setting.kills and done["half-written"] and done["conflict copies"]
    found = Checker(setting, transport, tmp_path).check()
    assert found["turns"] == setting.sites * setting.turns
