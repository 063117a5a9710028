"""The log cannot be filled by strangers, and says how much it left out."""

import json
import logging

import pytest

from cboc.coordinator.log import Lines, Sparing


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
def lines(now):
    """What is logged by `say`, as it is written."""
    said = []

    class Kept(logging.Handler):
        def emit(self, record):
            said.append(json.loads(Lines().format(record)))

    handler = Kept()
    handler.addFilter(Sparing(lambda: now[0]))
    log = logging.getLogger("cboc.test.log")
    log.propagate, log.handlers = False, [handler]
    log.setLevel(logging.INFO)
    yield log, said
    log.handlers = []


def message(log, status, address="/v2/study", seconds=0.1):
    of = {"method": "GET", "address": address, "status": status, "s": seconds}
    log.info("message", extra={"of": of})


def test_every_message_of_a_site_is_logged(lines):
    log, said = lines
    for _ in range(5):
        message(log, 200)
    assert len(said) == 5 and not any("left_out" in line for line in said)


@pytest.mark.parametrize(("status", "address"), [(401, "/v2/study"), (404, "-"), (200, "/healthz"), (303, "/")])
def test_of_what_anybody_may_do_there_is_a_line_a_minute(lines, now, status, address):
    log, said = lines
    for k in range(5):
        message(log, status, address, seconds=0.1 * k)
    assert len(said) == 1
    now[0] += 61.0
    message(log, status, address)
    message(log, status, address)
    assert len(said) == 2 and said[1]["left_out"] == 4
    now[0] += 61.0
    message(log, status, address)
    assert said[2]["left_out"] == 1


def test_kinds_do_not_hide_each_other_and_words_of_a_stranger_make_no_new_kind(lines):
    log, said = lines
    message(log, 401)
    message(log, 422)
    for k in range(5):
        log.warning(f"no boundary at {k}")
    log.warning("something else")
    assert [line["event"] for line in said] == ["message", "message", "no boundary at 0", "something else"]
