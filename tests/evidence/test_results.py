import json
import os
from pathlib import Path

import pytest

from cboc.errors import CbocError
from cboc.evidence.job import Job, Row
from cboc.evidence.job import work as real_work
from cboc.evidence.results import COSTS, EDITION, MARK, Results
from cboc.evidence.runner import jobs_of, run
from cboc.evidence.scenario import Scenario
from cboc.evidence.theory import Course, Inquiry

EVIDENCE = Path(__file__).parents[2] / "evidence"
SCENARIO = Scenario("levy-2", 2, rounds=3)
JOBS = jobs_of([SCENARIO], ["random", "individual"], ["default"], range(3))


def work(job):
    row = Row(job, (0.0, 0.25, 0.5, 0.75), (0.5, 1.0), (0.25, 0.75), (1.5, 2.5), 0)
    return row.to_json(), 0.1


def in_order(work, jobs):
    for job in jobs:
        yield job, work(job)


def backwards(work, jobs):
    return in_order(work, reversed(jobs))


def interrupted_after(count):
    def engine(work, jobs):
        for number, job in enumerate(jobs):
            if number == count:
                raise KeyboardInterrupt
            yield job, work(job)

    return engine


def test_a_row_comes_back_from_json_as_it_was():
    row, _ = work(JOBS[0])
    assert Row.from_json(json.loads(json.dumps(row))).to_json() == row


def test_the_same_jobs_give_the_same_file_whatever_the_order(tmp_path):
    run(work, JOBS, Results(tmp_path / "a", Row), in_order)
    run(work, JOBS, Results(tmp_path / "b", Row), backwards)
    assert (tmp_path / "a/results.jsonl").read_bytes() == (tmp_path / "b/results.jsonl").read_bytes()


def test_an_interrupted_run_goes_on_with_what_is_missing(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(work, JOBS, Results(tmp_path, Row), interrupted_after(2))
    again = Results(tmp_path, Row)
    assert len(again.rows) == 2
    asked = []
    run(lambda job: asked.append(job) or work(job), JOBS, again, in_order)
    assert asked == JOBS[2:]
    run(work, JOBS, Results(tmp_path / "whole", Row), in_order)
    assert (tmp_path / "results.jsonl").read_bytes() == (tmp_path / "whole/results.jsonl").read_bytes()


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_cut_by_a_kill_is_run_again(tmp_path, cut):
    with pytest.raises(KeyboardInterrupt):
        run(work, JOBS, Results(tmp_path, Row), interrupted_after(3))
    path = tmp_path / "results.jsonl"
    os.truncate(path, path.stat().st_size - cut)
    again = Results(tmp_path, Row)
    assert len(again.rows) == 2
    run(work, JOBS, again, in_order)
    assert len(Results(tmp_path, Row).rows) == len(JOBS)


def test_a_damaged_line_in_the_middle_is_named(tmp_path):
    run(work, JOBS, Results(tmp_path, Row), in_order)
    path = tmp_path / "results.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][:40] + "\n" + lines[2])
    with pytest.raises(CbocError, match=r"line 2 of .*results.jsonl is damaged; delete it"):
        Results(tmp_path, Row)
    path.write_text(lines[0] + "[1, 2]\n")
    with pytest.raises(CbocError, match=r"line 2 of .* is damaged"):
        Results(tmp_path, Row)
    path.write_text(lines[0].replace('"method":"individual"', '"method":"indivdual"'))
    with pytest.raises(CbocError, match=r"line 1 of .*'indivdual' is not a method.*did you mean 'individual'"):
        Results(tmp_path, Row)


def test_a_directory_of_a_later_edition_is_refused_and_of_an_earlier_one_only_read(tmp_path):
    run(work, JOBS, Results(tmp_path, Row), in_order)
    (tmp_path / MARK).write_text(json.dumps({"edition": EDITION + 1}))
    with pytest.raises(CbocError, match=rf"edition {EDITION + 1} .* edition {EDITION} .* another directory"):
        Results(tmp_path, Row)
    (tmp_path / MARK).write_text(json.dumps({"edition": EDITION - 1}))
    earlier = Results(tmp_path, Row)
    assert earlier.rows and earlier.edition == EDITION - 1  # to be shown
    with pytest.raises(CbocError, match=rf"edition {EDITION - 1} .* edition {EDITION}"), earlier.writing():
        pass
    (tmp_path / MARK).write_text("{")
    with pytest.raises(CbocError, match="damaged"):
        Results(tmp_path, Row)
    for damage in ("[" * 100_000, json.dumps({"edition": -7})):
        (tmp_path / MARK).write_text(damage)
        with pytest.raises(CbocError, match="damaged"):
            Results(tmp_path, Row)
    (tmp_path / MARK).unlink()
    for name in ("results", "others"):
        with pytest.raises(CbocError, match="holds results but no edition.json"):
            Results(tmp_path, Row, name)


def test_two_writers_do_not_meet(tmp_path):
    first, second = Results(tmp_path, Row), Results(tmp_path, Row)
    with first.writing(), pytest.raises(CbocError, match="another process is writing"), second.writing():
        pass


def test_what_another_process_has_added_meanwhile_stays(tmp_path):
    early, late = Results(tmp_path, Row), Results(tmp_path, Row)
    run(work, JOBS[:2], early, in_order)
    run(work, JOBS[1:4], late, in_order)  # opened before the others were there
    assert list(Results(tmp_path, Row).rows) == sorted(JOBS[:4])
    assert len((tmp_path / COSTS).read_text().splitlines()) == 4


def test_other_numbers_of_rounds_live_in_one_directory(tmp_path):
    jobs = jobs_of([SCENARIO, Scenario("levy-2", 2)], ["random"], ["default"], range(1))
    run(real_work, jobs, Results(tmp_path, Row), in_order)
    assert len(Results(tmp_path, Row).rows) == 2


@pytest.mark.parametrize(
    "damage",
    [{"final": ["a", "b"]}, {"curve": [0.1]}, {"final": []}, {"final": [float("nan")] * 2}, {"final": [0.9, 5]},
     {"flat": None}, {"seed": "0"}, {"noise": None}, {"regret": [0.1, float("inf")]},
     {"is_displaced": "no"}, {"final": ["0.5", "0.5"]}, {"seed": True}, {"sites": 2.0}, {"flat": 1.5}, {"flat": True},
     {"noise": True}, {"noise": 10**400}, {"final": [True, True]}, {"final": [-1e308, 0.5]}, {"final": "ab"},
     {"regret": [1e308, 1e308]}, {"final": [10**400, 0]}, {"rounds": 3.0}, {"problem": 5}, {"method": []},
     {"curve": [0.0, 0.5, 0.25, 0.75]}, {"area": [0.25, 0.5]}, {"final": [0.9, 1.0]}, {"area": [0.6, 0.4]}],
)  # fmt: skip
def test_a_line_that_no_run_has_written_is_named(tmp_path, damage):
    run(work, JOBS[:1], Results(tmp_path, Row), in_order)
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(json.loads(path.read_text()) | damage) + "\n")
    with pytest.raises(CbocError, match="line 1 of .*results.jsonl"):
        Results(tmp_path, Row)


def course(job):
    return Course(job, (0.5,) * 3, (0.1,) * 3, (0.0,) * 3).to_json(), 0.1


@pytest.mark.parametrize(
    "damage",
    [{"regret": [float("nan")] * 3}, {"blur": [0.1] * 4}, {"spread": ["a", "b", "c"]}, {"spread": [True] * 3},
     {"regret": [1e308] * 3}, {"blur": [-0.1] * 3}, {"method": "cboc"}, {"method": 3}, {"seed": "x"}, {"seed": True},
     {"rounds": 4}, {"sites": "5"}],
)  # fmt: skip
def test_a_course_that_no_run_has_written_is_named(tmp_path, damage):
    job = Inquiry(SCENARIO, "cboc-u", 0)
    run(course, [job], Results(tmp_path, Course, "theory"), in_order)
    path = tmp_path / "theory.jsonl"
    assert list(Results(tmp_path, Course, "theory").rows) == [job]
    path.write_text(json.dumps(json.loads(path.read_text()) | damage) + "\n")
    with pytest.raises(CbocError, match="line 1 of .*theory.jsonl"):
        Results(tmp_path, Course, "theory")


def test_two_different_results_of_one_job_are_refused_and_stay(tmp_path):
    run(work, JOBS, Results(tmp_path, Row), in_order)
    path = tmp_path / "results.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[1]]))
    assert len(Results(tmp_path, Row).rows) == len(JOBS)
    waiting = Results(tmp_path, Row)
    path.write_text("".join([*lines, lines[1].replace("1.5", "1.25")]))
    before = path.read_bytes()
    with pytest.raises(CbocError, match=r"lines 2 and 7 of .*results.jsonl are two different results of one run"):
        Results(tmp_path, Row)
    with pytest.raises(CbocError, match="lines 2 and 7"), waiting.writing():
        pass
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "garbage", [b"{", b"", b"\xff\xfe", b"[1]", b'{"job": 1, "cpu": 2}', b'{"job": "a", "cpu": "b"}']
)
def test_garbage_among_the_costs_keeps_nobody_from_the_results(tmp_path, garbage):
    run(work, JOBS, Results(tmp_path, Row), in_order)
    with (tmp_path / COSTS).open("ab") as file:
        file.write(garbage + b"\n" + b'{"job": "cut')
    results = Results(tmp_path, Row)
    assert len(results.rows) == len(results.costs) == len(JOBS)


@pytest.mark.parametrize("path", ["file", "file/below"])
def test_a_file_in_place_of_the_directory_is_one_sentence(tmp_path, path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CbocError, match="results live in a directory, but .*/file is a file; give another path"):
        Results(tmp_path / path, Row)


def test_the_committed_rows_come_back_byte_for_byte():
    for folder, kind, name in (("", Row, "results"), ("tuning", Row, "results"), ("theory", Course, "theory")):
        results = Results(EVIDENCE / folder, kind, name)
        lines = [json.dumps(row.to_json(), separators=(",", ":")) + "\n" for row in results.rows.values()]
        assert "".join(lines) == results.path.read_text(encoding="utf-8")


def test_costs_are_kept_apart(tmp_path):
    run(work, JOBS, Results(tmp_path, Row), in_order)
    assert "cpu" not in (tmp_path / "results.jsonl").read_text()
    assert sum(Results(tmp_path, Row).costs.values()) == pytest.approx(0.1 * len(JOBS))
    assert len((tmp_path / COSTS).read_text().splitlines()) == len(JOBS)


def test_jobs_come_seed_by_seed_and_once():
    jobs = jobs_of([SCENARIO, Scenario("levy-2", 3, rounds=3)], ["random", "random"], ["default"], range(2))
    assert [job.seed for job in jobs] == [0, 0, 1, 1]
    assert [job.scenario.sites for job in jobs] == [3, 2, 3, 2]


def test_unknown_names_are_one_sentence():
    with pytest.raises(CbocError, match="'indvidual' is not a method of this library; did you mean 'individual'?"):
        Job(SCENARIO, "default", "indvidual", 0)
    with pytest.raises(CbocError, match="'papr' is not a surrogate of this library; did you mean 'paper'?"):
        Job(SCENARIO, "papr", "individual", 0)
    with pytest.raises(CbocError, match="'lvy-2' is not a problem"):
        Scenario("lvy-2", 2)
    with pytest.raises(CbocError, match="1 to 1000 sites; got 0"):
        Scenario("levy-2", 0)
