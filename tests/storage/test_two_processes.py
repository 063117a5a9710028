"""Two processes that ask for one site at once: what one of them has done, the other goes on with."""

import subprocess
import sys

import pytest

from cboc import CbocError, Ledger, Policy, Site, Study, Waiting
from cboc.site.trial import Status
from cboc.storage.sitefile import SiteFile

STUDY = Study({"a": (0.0, 1.0)}, ("x", "y"), 3, pace="rounds")


@pytest.fixture
def twice(tmp_path):
    """One site in two processes, both opened before either has asked; and the network that they share."""
    ledger = Ledger(STUDY)
    SiteFile(tmp_path / "x.db", is_made=True)
    files = [SiteFile(tmp_path / "x.db") for _ in range(2)]
    policy = Policy(initial=0)
    return ledger, [Site(STUDY, "x", ledger, direction="minimise", policy=policy, save=file.keep) for file in files]


def test_the_second_goes_on_with_what_the_first_has_submitted(twice):
    ledger, (first, second) = twice
    for site in (first, second):
        with pytest.raises(Waiting):
            site.ask()
    assert first.trials == second.trials and second.trials[0].status is Status.SUBMITTED
    Site(STUDY, "y", ledger, direction="minimise", policy=Policy(initial=0)).propose()
    assert first.ask() == second.ask() and second.ask().status is Status.PENDING


def test_the_second_goes_on_with_what_the_first_is_to_run(twice):
    ledger, (first, second) = twice
    first.propose()
    Site(STUDY, "y", ledger, direction="minimise", policy=Policy(initial=0)).propose()
    assert second.ask() == first.ask()


def test_what_is_told_is_not_taken_back(twice):
    ledger, (first, second) = twice
    first.propose()
    Site(STUDY, "y", ledger, direction="minimise", policy=Policy(initial=0)).propose()
    told = first.tell(first.ask(), 0.5)
    with pytest.raises(CbocError, match="another process has changed trial 0"):
        second.ask()
    assert first.trials == [told]


def test_two_that_ask_for_plates_get_different_wells(tmp_path):
    """Both were opened before either has asked, as two robots of one lab may be."""
    study = Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ("x", "y"), 20, pace="free")
    ledger = Ledger(study)
    SiteFile(tmp_path / "x.db", is_made=True)
    files = [SiteFile(tmp_path / "x.db") for _ in range(2)]
    options = {"direction": "minimise", "policy": Policy(initial=2)}
    first, second = (
        Site(study, "x", ledger, save=file.keep, claim=file.claim, trials=file.trials(), **options) for file in files
    )
    for number, trial in enumerate(first.ask(2)):
        first.tell(trial, float(number))
    plates = [first.ask(3), second.ask(3), first.ask(2), second.ask(1)]
    wells = [trial for plate in plates for trial in plate]
    assert [trial.number for trial in wells] == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert len({trial.proposed for trial in wells}) == 9
    second.tell(wells[0], 0.1)  # asked for by the first
    first.tell(wells[4], 0.2)
    assert [trial.status for trial in SiteFile(tmp_path / "x.db").trials()].count(Status.COMPLETE) == 4


def test_two_processes_that_ask_at_the_same_moment_get_different_wells(tmp_path):
    code = """
import sys
from cboc import Ledger, Policy, Site, Study
from cboc.storage.sitefile import SiteFile
study = Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ("x", "y"), 20, pace="free")
file = SiteFile("x.db")
site = Site(study, "x", Ledger(study), direction="minimise", policy=Policy(initial=12), save=file.keep,
            claim=file.claim, trials=file.trials())
print("ready", flush=True)
sys.stdin.readline()
print(*[trial.number for _ in range(3) for trial in site.ask(2)])
"""
    SiteFile(tmp_path / "x.db", is_made=True)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": tmp_path}
    processes = [subprocess.Popen([sys.executable, "-c", code], **pipes) for _ in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    numbers = [list(map(int, process.communicate(timeout=60)[0].split())) for process in processes]
    assert sorted(numbers[0] + numbers[1]) == list(range(12)) and len(numbers[0]) == len(numbers[1]) == 6
