"""A coordinator that lies, by a real web server: its answer is refused in one sentence, and nothing of it is kept.

After that the same site goes on with an honest coordinator, bit for bit as if nothing had happened.
"""

import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import product

import pytest

import cboc
from cboc import CbocError, Changed, Policy, Study
from cboc.coordinator.app import create_app
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal
from cboc.storage.sitefile import SiteFile

from ..coordinator.conftest import prepared
from ..machine.liar import lying
from ..machine.served import served

SPACE = {"a": (0.0, 1.0), "b": ["p", "q", "r"]}
STUDY = Study(SPACE, ("x", "y", "z"), 2, name="trial run", graph=[("x", "y"), ("y", "z")])
GIVEN = {"direction": "minimise", "policy": Policy(initial=1, seed=5)}
POINTS = {"y": (0.25, 0.0, 1.0, 0.0), "z": (0.75, 1.0, 0.0, 0.0)}
OTHER = Study(SPACE, ("x", "y", "z"), 3, name="trial run", graph=[("x", "y"), ("y", "z")])


class Lab:
    """Site x, whose coordinator may lie; y and z have proposed once."""

    def __init__(self, folder, study):
        self.path, self.study = folder / "x.db", study
        with prepared(f"sqlite:///{folder / 'coordinator.db'}") as engine:
            self.engine, self.transactions = engine, Transactions(engine)
            self.transactions.create(study)
            for site, point in POINTS.items():
                self.transactions.submit(study.name, Proposal(site, 0, [point], [point] if study.shares_best else []))

    def invite(self):
        return Tokens(self.engine).invite(self.study.name, "x")

    def join(self, *given, **options):
        return cboc.join(*given, storage=self.path, goes_on_alone=False, patience=5.0, **options)

    def kept(self):
        """All that the file says about the site but secrets, which are made before anything is sent; and its trials."""
        if not self.path.exists():
            return {}, []
        with closing(sqlite3.connect(self.path)) as connection:
            about = dict(connection.execute("SELECT key, value FROM about"))
            rows = connection.execute("SELECT row FROM trials ORDER BY number").fetchall()
        return {name: about[name] for name in about.keys() - {"code", "token", "returning", "url"}}, rows


@pytest.fixture
def lab(tmp_path):
    lab = Lab(tmp_path, STUDY)
    with served(create_app(lab.engine)) as honest, lying(honest) as liar:
        lab.liar = liar
        yield lab
    lab.engine.dispose()


def work(site, trials):
    """Ask and tell until there are so many trials."""
    while len([trial for trial in site.trials if trial.y is not None]) < trials:
        trial = site.ask()
        site.tell(trial, float(((trial.x - 0.3) ** 2).sum()))


def timeless(trials):
    return [replace(trial, began=None, ended=None) for trial in trials]


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    """The trials of the site if nobody lies."""
    lab = Lab(tmp_path_factory.mktemp("truth"), STUDY)
    with served(create_app(lab.engine)) as honest:
        site = lab.join(honest, lab.invite(), **GIVEN)
        work(site, 3)
    lab.engine.dispose()
    return timeless(site.trials)


def refuses(lab, act):
    """One printable sentence, and nothing is kept of the answer."""
    before = lab.kept()
    with pytest.raises(CbocError) as told:
        act()
    sentence = str(told.value)
    assert sentence.isprintable() and len(sentence) < 1000 and lab.liar.lied
    after = lab.kept()
    assert after[1] == before[1]
    return before[0], after[0]


def of(terms):
    """What a coordinator says about another study."""
    return {"agreement": terms.agreement(), "digest": terms.digest}


MEMBERSHIPS = {
    "a turn beyond all": {"turn": 1_000_000, "experiments": 2},
    "more experiments than the budget": {"turn": 2, "experiments": 1_000_000},
    "one experiment more than the budget": {"turn": 3, "experiments": 3},
    "turns without an experiment": {"turn": 2, "experiments": 0},
    "experiments without a turn": {"turn": 0, "experiments": 2},
    "more turns than could be lost": {"turn": 5, "experiments": 1},
    "another digest": {"digest": OTHER.digest},
    "another agreement": {"agreement": OTHER.agreement()},
    "another study": of(OTHER),
    "a site that the study has not": {"site": "w"},
    "a pace that there is not": {"agreement": STUDY.agreement() | {"pace": 7}},
    "a term that there is not": {"agreement": STUDY.agreement() | {"more": 1}},
    "no space": {"agreement": {name: term for name, term in STUDY.agreement().items() if name != "space"}},
    "a name to take over a terminal": {"agreement": STUDY.agreement() | {"name": "trial\x1b[2Jrun"}},
}


def test_a_false_answer_to_the_first_message_is_not_kept(lab, truth):
    code = lab.invite()
    for what, lie in MEMBERSHIPS.items():
        lab.liar.tell("/v2/join", lambda said, lie=lie: said | lie)
        _, after = refuses(lab, lambda: lab.join(lab.liar.url, code, **GIVEN, study=STUDY))
        assert not after.keys() & {"agreement", "site", "first_turn", "spent"}, what
    lab.liar.tell(None)
    site = lab.join(lab.liar.url, code, **GIVEN, study=STUDY)
    work(site, 3)
    assert timeless(lab.join().trials) == truth


def test_a_false_answer_to_a_site_that_comes_back_is_not_kept(lab, truth):
    site = lab.join(lab.liar.url, lab.invite(), **GIVEN)
    work(site, 2)
    code = lab.invite()
    for path, lie in product(("/v2/join", "/v2/study"), (*MEMBERSHIPS.values(), {"site": "y"})):
        lab.liar.tell(path, lambda said, lie=lie: said | lie)
        before, after = refuses(lab, lambda: lab.join(lab.liar.url, code))
        assert before == after
    lab.liar.tell(None)
    work(lab.join(lab.liar.url, code), 3)
    assert timeless(lab.join().trials) == truth


def test_a_false_past_that_could_be_is_taken_back_by_a_true_one(lab, truth):
    """That a site has lost a trial cannot be seen from here: it is believed, until somebody says better."""
    site = lab.join(lab.liar.url, lab.invite(), **GIVEN)
    work(site, 2)
    lab.liar.tell("/v2/join", lambda said: said | {"turn": 2, "experiments": 2})
    assert lab.join(lab.liar.url, lab.invite()).turns == 2
    lab.liar.tell(None)
    work(lab.join(lab.liar.url, lab.invite()), 3)
    assert timeless(lab.join().trials) == truth


def test_a_file_of_an_older_version_takes_no_terms_that_cannot_be_read(lab, truth):
    """Until 0.1.0 an agreement had no pace: the coordinator says the rest."""
    lab.join(lab.liar.url, lab.invite(), **GIVEN)
    file = SiteFile(lab.path)
    old = {name: term for name, term in file.about["agreement"].items() if name not in ("pace", "objectives")}
    file.remember(agreement=old)
    for lie in MEMBERSHIPS.values():
        lab.liar.tell("/v2/study", lambda said, lie=lie: said | lie)
        before, after = refuses(lab, lab.join)
        assert before == after
    lab.liar.tell(None)
    work(lab.join(), 3)
    assert timeless(lab.join().trials) == truth


POINT = [0.5, 1.0, 0.0, 0.0]
MIXES = {
    "a round that the study cannot have": {"snapshot": 6},
    "a round beyond all": {"snapshot": 999_999_999},
    "a weight too few": {"weights": [0.5, 0.5]},
    "a weight too many": {"weights": [0.25] * 4},
    "weights that make no whole": {"weights": [0.5, 0.4, 0.0]},
    "the weight of somebody who is no neighbour": {"weights": [0.5, 0.0, 0.5]},
    "a leader whom nobody knows": {"leader": "w"},
    "a design of too few coordinates": {"X": [[0.5]], "others": []},
    "two designs": {"X": [POINT, POINT]},
    "a design outside": {"X": [[0.5, 1.0, 0.0, 1.5]]},
    "more best designs than the neighbours have": {"others": [POINT] * 9},
    "best designs of too few coordinates": {"others": [[0.5]]},
}


def test_a_false_mix_is_not_kept(lab, truth):
    site = lab.join(lab.liar.url, lab.invite(), **GIVEN)
    work(site, 2)
    site.propose()
    for lie in MIXES.values():
        lab.liar.tell("/v2/turns/1/mix", lambda said, lie=lie: said | lie)
        before, after = refuses(lab, site.ask)
        assert before == after
    with pytest.raises(CbocError):
        lab.join().ask()
    lab.liar.tell(None)
    work(lab.join(), 3)
    assert timeless(lab.join().trials) == truth


def test_false_news_are_not_kept(lab, truth):
    site = lab.join(lab.liar.url, lab.invite(), **GIVEN)
    work(site, 2)
    for lie in ({"others": [POINT] * 9}, {"others": [[0.5]]}, {"others": [[0.5] * 1001]}, {"snapshot": -1}):
        lab.liar.tell("/v2/news", lambda said, lie=lie: said | lie)
        refuses(lab, site.ask)
    lab.liar.tell(None)
    work(lab.join(), 3)
    assert timeless(lab.join().trials) == truth


REFUSALS = {
    "it has left": (409, {"error": "site 'x' has left study 'trial run', and takes no more turns."}),
    "conflict": (409, {"error": "another design.", "reason": "conflict"}),
    "not submitted": (409, {"error": "never heard.", "reason": "not submitted"}),
    "waiting for a site without end": (
        409,
        {"error": "no.", "reason": "waiting", "standing": {"round": 1_000_000_000, "missing": ["w"] * 1000}},
    ),
    "revoked": (401, {"error": "this token is unknown."}),
    "changed": (409, {"error": "amended.", "agreement": replace(OTHER, version=1_000_000).agreement()}),
    "changed into nothing": (409, {"error": "amended.", "agreement": {"version": 3}}),
}


def test_a_false_refusal_changes_nothing(lab, truth):
    site = lab.join(lab.liar.url, lab.invite(), **GIVEN)
    work(site, 2)
    for path, lie in product(("/v2/news", "/v2/turns/1/proposal", "/v2/turns/1/mix"), REFUSALS.values()):
        lab.liar.tell(path, lie)
        with pytest.raises(CbocError) as told:
            site.ask()
        assert str(told.value).isprintable()
    assert lab.join().trials == site.trials
    lab.liar.tell(None)
    work(lab.join(), 3)
    assert timeless(lab.join().trials) == truth


def changed(**terms):
    return replace(STUDY, **terms)


CHANGES = {
    "a version beyond all": changed(version=1_000_000),
    "a larger horizon": changed(version=7, horizon=9),
    "a site that is not there": changed(version=1, sites=("x", "y", "z", "w"), graph=[*STUDY.graph, ("x", "w")]),
    "a budget beyond all": changed(version=1, budgets={"x": 1_000_000}),
}


@pytest.mark.parametrize("false", CHANGES.values(), ids=CHANGES)
def test_a_false_change_that_somebody_has_accepted_is_taken_back(lab, truth, false):
    """It was shown and agreed to. The file goes on all the same, with what is agreed in truth, and later changes."""
    site = lab.join(lab.liar.url, lab.invite(), **GIVEN)
    work(site, 2)
    lab.liar.tell("/v2/study", lambda said: said | of(false))
    with pytest.raises(CbocError, match=r"this is not an agreement of study 'trial run'\."):
        lab.join(accept=True)
    assert lab.join().study.digest == false.digest
    lab.liar.tell(None)
    assert lab.join(lab.liar.url, lab.invite()).study.digest == false.digest  # a new invitation is no way out of it
    assert lab.join().offered().digest == STUDY.digest
    site = lab.join(accept=True)
    assert site.study.digest == STUDY.digest and lab.join().offered() is None
    work(site, 3)
    assert timeless(lab.join().trials) == truth
    lab.transactions.amend(replace(STUDY, horizon=5))
    with pytest.raises(Changed, match="the horizon grows from 2 to 5"):
        site.ask()
    site = lab.join(accept=True)
    assert site.study.version == 1 and len(SiteFile(lab.path).history()) > 3
    work(site, 4)


def test_a_false_change_does_not_stand_in_the_way_of_a_true_one(lab):
    """Not even where the true one could not follow it: its version is lower, and its horizon is shorter."""
    site = lab.join(lab.liar.url, lab.invite(), **GIVEN)
    lab.liar.tell("/v2/study", lambda said: said | of(CHANGES["a larger horizon"]))
    with pytest.raises(CbocError, match="not an agreement"):
        lab.join(accept=True)
    lab.liar.tell(None)
    lab.transactions.amend(replace(STUDY, horizon=5))
    site = lab.join()
    site.tell(site.ask(), 0.5)
    with pytest.raises(Changed, match="horizon is 9 as accepted and 5 as the others know it"):
        site.ask()
    work(lab.join(accept=True), 3)
    assert lab.join().study.horizon == 5


def test_a_row_that_would_be_damage_is_not_written(lab):
    """The last door, whatever comes to be believed: what cannot be read again is not saved."""
    site = lab.join(lab.liar.url, lab.invite(), **GIVEN)
    work(site, 2)
    trial, before = site.trials[1], lab.kept()
    answer = replace(trial.answer, weights=(0.5, 0.5))
    with pytest.raises(CbocError, match="trial 1 was not saved, and stays as it was: a row of W has a weight for each"):
        SiteFile(lab.path).keep(replace(trial, turn=replace(trial.turn, answer=answer)))
    assert lab.kept() == before
