"""A site's seed is drawn when it joins: nobody else can compute the designs that it begins with."""

import json
import shutil
from pathlib import Path

import cboc
from cboc import Ledger, Policy, Site, Study, simulate
from cboc.storage.sitefile import SiteFile

from ..storage.tampering import execute, reseal

STUDY = Study({"a": (0.0, 1.0), "b": (-5.0, 5.0)}, ("x", "y"), 4, name="seeds")
OLD = Path(__file__).parents[1] / "frozen" / "format2"


def joined(folder, policy=None, name="x.db"):
    return cboc.join("stick:", storage=folder / name, site="x", study=STUDY, direction="minimise", policy=policy)


def initial(site):
    return [trial.proposed for trial in site.ask(4)]


def test_a_seed_is_drawn_at_join_and_stays(tmp_path):
    sites = [joined(tmp_path, policy, f"{k}.db") for k, policy in enumerate((None, Policy(), Policy(initial=4)))]
    assert len({site.policy.seed for site in sites}) == 3 and all(site.policy.seed > 2**32 for site in sites)
    for k, site in enumerate(sites):
        kept = site.policy.seed
        assert SiteFile(tmp_path / f"{k}.db").about["seed"] == kept
        for policy in (None, Policy(), Policy(initial=4)):
            assert cboc.join(storage=tmp_path / f"{k}.db", policy=policy).policy.seed == kept


def test_what_others_know_of_a_site_does_not_give_its_initial_designs(tmp_path):
    """They know the study and the name, and the default of whoever gives no seed."""
    site = joined(tmp_path)
    guessed = Site(STUDY, "x", Ledger(STUDY), direction="minimise")
    assert not set(initial(site)) & set(initial(guessed))
    again = joined(tmp_path, name="again.db")
    assert not set(initial(again)) & {trial.proposed for trial in site.trials[:4]}


def test_a_seed_that_was_given_counts(tmp_path):
    given = [initial(joined(tmp_path, Policy(seed=7), f"{k}.db")) for k in range(2)]
    alone = Site(STUDY, "x", Ledger(STUDY), direction="minimise", policy=Policy(seed=7))
    assert given[0] == given[1] == initial(alone)
    assert cboc.join(storage=tmp_path / "0.db").policy.seed == 7


def test_without_a_seed_one_process_is_as_reproducible_as_with_0():
    told = [
        simulate(STUDY, dict.fromkeys(STUDY.sites, lambda d: d["a"]), direction="minimise", policy=policy).trials
        for policy in (None, Policy(), Policy(seed=0))
    ]
    assert told[0] == told[1] == told[2]


def test_a_file_that_joined_before_keeps_its_seed(tmp_path):
    for name in ("stick.db", "stick.db.feeds"):
        shutil.copy(OLD / name, tmp_path)
    assert cboc.join(storage=tmp_path / "stick.db").policy.seed == 3
    policy = SiteFile(tmp_path / "stick.db").about["policy"]
    without = json.dumps({name: value for name, value in policy.items() if name != "seed"})
    execute(tmp_path / "stick.db", "UPDATE about SET value = ? WHERE key = 'policy'", without)
    reseal(tmp_path / "stick.db")
    assert cboc.join(storage=tmp_path / "stick.db").policy.seed == 0  # as it was with every file that was given none
