import threading
from dataclasses import replace

import pytest

import cboc
from cboc import CbocError, Finished, Ledger, Policy, Site, Study, Unreachable, Waiting
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.http import Client
from cboc.storage.sitefile import SiteFile

POLICY = Policy(initial=3, seed=5)
SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
STUDY = Study(SPACE, ("x", "y"), 4, name="trial run", pace="rounds")
CENTRES = {"x": 0.3, "y": 0.35}


def outcome(name, design):
    return (design["a"] - CENTRES[name]) ** 2 + (design["b"] - 0.4) ** 2 + 0.123456789 / 7


@pytest.fixture
def coordinator(engine, serving):
    """The address of a coordinator, and an invitation for each site."""
    Transactions(engine).create(STUDY)
    door = Tokens(engine)
    with serving(engine) as url:
        yield url, {name: door.invite("trial run", name) for name in STUDY.sites}


def rejoin(tmp_path, name, **options):
    return cboc.join(storage=tmp_path / f"{name}.db", policy=POLICY, **options)


def take_part(tmp_path, name):
    """Every step in a new process, as it were: nothing but the file is kept."""
    while True:
        site = rejoin(tmp_path, name)
        if site.is_finished:
            return
        try:
            site.ask()
        except Waiting:
            continue
        again = rejoin(tmp_path, name)
        trial = again.ask()
        again.tell(trial, outcome(name, trial.design(again.study.space)))


def test_a_study_of_sites_that_forget_everything_but_their_files(coordinator, tmp_path):
    url, codes = coordinator
    for name in STUDY.sites:
        cboc.join(
            url, codes[name], storage=f"sqlite:///{tmp_path / name}.db", direction="minimise", policy=Policy(seed=5)
        )
    threads = [threading.Thread(target=take_part, args=(tmp_path, name)) for name in STUDY.sites]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledger = Ledger(STUDY)
    together = [Site(STUDY, name, ledger, direction="minimise", policy=POLICY) for name in STUDY.sites]
    while not all(site.is_finished for site in together):
        for site in together:
            site.propose()
        for site in together:
            trial = site.ask()
            site.tell(trial, outcome(site.name, trial.design(STUDY.space)))
    for expected in together:
        site = rejoin(tmp_path, expected.name)
        untimed = [replace(trial, began=None, ended=None) for trial in site.trials]
        assert untimed == expected.trials and len(site.trials) == 7
        assert all(0.0 <= trial.ended - trial.began < 600.0 for trial in site.trials)


def test_a_site_killed_between_saving_and_sending_sends_the_same_again(coordinator, tmp_path, monkeypatch):
    url, codes = coordinator
    site = cboc.join(url, codes["x"], storage=tmp_path / "x.db", direction="minimise", policy=Policy(initial=0))
    with monkeypatch.context() as patched:
        patched.setattr(Client, "_request", _killed_by_a_proposal(Client._request))
        with pytest.raises(KeyboardInterrupt):
            site.propose()
    cboc.join(storage=tmp_path / "x.db").propose()
    first, second = [message for message in SiteFile(tmp_path / "x.db").sent() if message.method == "PUT"]
    assert (first.path, first.body) == (second.path, second.body)
    assert cboc.join(storage=tmp_path / "x.db").network.standing().missing == ("y",)


def _killed_by_a_proposal(request):
    def killed(client, method, *given):
        if method == "PUT":
            raise KeyboardInterrupt
        return request(client, method, *given)

    return killed


def test_an_answer_to_the_invitation_that_is_lost_is_asked_for_again(coordinator, tmp_path, monkeypatch):
    url, codes = coordinator
    with monkeypatch.context() as patched:
        patched.setattr(SiteFile, "remember", _forgetful(SiteFile.remember))
        with pytest.raises(KeyboardInterrupt):
            cboc.join(url, codes["x"], storage=tmp_path / "x.db", direction="minimise")
    assert cboc.join(storage=tmp_path / "x.db").name == "x"


def _forgetful(remember):
    def killed_before_the_agreement(self, **facts):
        if "agreement" in facts:
            raise KeyboardInterrupt
        remember(self, **facts)

    return killed_before_the_agreement


def finish(tmp_path, name, **options):
    while True:
        site = rejoin(tmp_path, name, **options)
        try:
            trial = site.ask()
        except Waiting:
            return site
        except Finished:
            return site
        site.tell(trial, outcome(name, trial.design(site.study.space)))


@pytest.mark.parametrize("has_arrived", [False, True])
def test_while_the_coordinator_is_down_a_site_goes_on_alone_and_comes_back(engine, serving, tmp_path, has_arrived):
    Transactions(engine).create(STUDY)
    door = Tokens(engine)
    with serving(engine) as url:
        for name in STUDY.sites:
            cboc.join(url, door.invite("trial run", name), storage=tmp_path / f"{name}.db", direction="minimise")
        if has_arrived:  # x has proposed for round 0, and waits for y, when the coordinator goes down
            assert finish(tmp_path, "x").trials[-1].status == "submitted"
    site = rejoin(tmp_path, "x", patience=0.1)
    while (trial := site.ask()).turn is None:
        site.tell(trial, outcome("x", trial.design(STUDY.space)))
    assert trial.decision == "unreachable" and "could not be reached" in trial.explain(STUDY.sites)
    assert rejoin(tmp_path, "x", patience=0.1).ask() == trial  # the same until it is told
    site.tell(trial, outcome("x", trial.design(STUDY.space)))
    with serving(engine) as url:
        for _ in range(5):
            for name in STUDY.sites:
                finish(tmp_path, name, url=url)
        assert Transactions(engine).standing("trial run").missing == ()
        for name in STUDY.sites:
            of_site = rejoin(tmp_path, name, url=url)
            assert of_site.is_finished and of_site.turns == 4
    shared = [trial for trial in of_site.trials if trial.answer and trial.answer.weights[0] > 0.0]
    assert shared  # y has heard x again


def test_a_site_that_may_not_go_on_alone_says_so(engine, serving, tmp_path):
    Transactions(engine).create(STUDY)
    with serving(engine) as url:
        code = Tokens(engine).invite("trial run", "x")
        cboc.join(url, code, storage=tmp_path / "x.db", direction="minimise", policy=Policy(initial=0))
    site = cboc.join(storage=tmp_path / "x.db", patience=0.1, goes_on_alone=False)
    with pytest.raises(Unreachable, match="no coordinator answers"):
        site.ask()


def test_mistakes_get_one_sentence(coordinator, tmp_path):
    url, codes = coordinator
    with pytest.raises(CbocError, match="there is no site file"):
        cboc.join(storage=tmp_path / "x.db")
    assert not (tmp_path / "x.db").exists()
    with pytest.raises(
        CbocError, match=r"no study yet; to join one, also give a direction \(maximise or minimise\)\.$"
    ):
        cboc.join(url, codes["x"], storage=tmp_path / "x.db")
    with pytest.raises(CbocError, match="a site file is a path"):
        cboc.join(url, codes["x"], storage=tmp_path, direction="minimise")
    (tmp_path / "text.db").write_text("no database at all, but long enough to be taken for one" * 20)
    with pytest.raises(CbocError, match="it is not a site file; name another"):
        cboc.join(url, codes["x"], storage=tmp_path / "text.db", direction="minimise")
    with pytest.raises(Unreachable):
        cboc.join("http://127.0.0.1:9", codes["x"], storage=tmp_path / "z.db", direction="minimise", patience=0.2)
    cboc.join(url, codes["x"], storage=tmp_path / "x.db", direction="minimise")
    rejoin(tmp_path, "x").ask()
    with pytest.raises(CbocError, match="began with direction = 'minimise', which cannot change to 'maximise'"):
        cboc.join(storage=tmp_path / "x.db", direction="maximise")
    for code in ("unknown", codes["y"]):
        with pytest.raises(CbocError, match="use another file for another site or study"):
            cboc.join(url, code, storage=tmp_path / "x.db")
    with pytest.raises(CbocError, match="this invitation has already been used"):
        cboc.join(url, codes["x"], storage=tmp_path / "second.db", direction="minimise")
