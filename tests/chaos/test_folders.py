"""Sites that share nothing but a badly copied folder, and are killed: nothing is lost, and no mix is wrong.

`python -m tests.chaos` plays for longer.
"""

from dataclasses import replace

import pytest

from .checker import Checker
from .folders import Folders
from .lab import acknowledge
from .play import play
from .setting import Setting


@pytest.mark.parametrize(
    "setting",
    [
        Setting("rounds", "leader", "ring", sealed=True, sites=4, turns=4, kills=3, seed=1),
        Setting("free", "uniform", "complete", kills=3, seed=2),
    ],
    ids=str,
)
def test_nothing_is_lost_and_no_mix_is_wrong(tmp_path, setting):
    transport = Folders(setting, tmp_path)
    done = play(setting, transport, tmp_path)
    assert done["kills"] == setting.kills and done["half-written"] and done["conflict copies"]
    checker = Checker(setting, transport, tmp_path)
    assert checker.check()["turns"] == setting.sites * setting.turns
    would_notice(checker)


def would_notice(checker):
    """What the checker is there for: an answer that is a little wrong, and a turn that is not in the feed."""
    trials = checker.trials["site-0"]
    turn = trials[-1].turn
    answer = replace(turn.answer, mix=tuple(x + 2**-32 for x in turn.answer.mix))
    trials[-1] = replace(trials[-1], turn=replace(turn, answer=answer))
    with pytest.raises(AssertionError, match="'wrong mixes': 1"):
        checker.every_mix_is_right()
    acknowledge(checker.place, "site-0", checker.setting.turns)
    with pytest.raises(AssertionError, match="has acknowledged other turns"):
        checker.nothing_is_lost()
