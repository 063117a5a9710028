import numpy as np

from cboc import Float, History, Ledger, Policy, Site, Study

STUDY = Study({"a": Float(0, 1)}, ("x", "y"), 3, objectives=("yield", "cost"))
WANTED = {"yield": "max", "cost": "min"}


def test_before_a_first_result_nothing_is_reached():
    site = Site(STUDY, "x", Ledger(STUDY), direction=WANTED, policy=Policy(initial=2))
    trials = [site.ask()]
    assert np.isnan(History(STUDY, {"x": WANTED}, tuple(trials)).best_so_far("x")).all()
    trials[0] = site.fail(trials[0], "it leaked")
    assert np.isnan(History(STUDY, {"x": WANTED}, tuple(trials)).best_so_far("x")).all()
    times, reached = History(STUDY, {"x": WANTED}, tuple(trials)).course("x")
    assert len(times) == len(reached) == 0
