"""Peers in network namespaces of their own are killed, and their wires cut: nothing is lost, and no mix is wrong."""

import pytest

from .checker import Checker
from .namespaces import are_allowed
from .peers import Peers
from .play import play
from .setting import Setting


@pytest.mark.parametrize("setting", [Setting("rounds", "leader", "star", turns=4, kills=3, seed=1)], ids=str)
def test_nothing_is_lost_and_no_mix_is_wrong(tmp_path, setting):
    transport = Peers(setting, tmp_path)
    done = play(setting, transport, tmp_path)
    assert done["kills"] == setting.kills and (done["link cuts"] or not are_allowed())
    assert Checker(setting, transport, tmp_path).check()["turns"] == setting.sites * setting.turns
