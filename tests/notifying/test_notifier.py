"""People are told once, after a record was made, by somebody who waits for nothing."""

import threading
import time

import pytest

import cboc
from cboc import CbocError, Changed, Unreachable, Waiting
from cboc.exchange.network import Standing
from cboc.notifying.notifier import Notifier
from cboc.notifying.settings import Settings, Webhook, keep
from cboc.runs.first_runs import AllFailed
from cboc.site.ending import Finished
from cboc.storage.sitefile import SiteFile

from ..machine.ports import free_port
from ..machine.smtp import answering, mail_server
from .conftest import PLANTED, STUDY
from .test_sending import hook, mail


@pytest.fixture
def notifier(path):
    """Its sentences are in `notifier.said`."""
    said = []
    notifier = Notifier(path, said.append, pauses=(0.0, 0.05, 0.05))
    notifier.said = said
    return notifier


def events(path):
    return [message.path for message in SiteFile(path).sent() if message.method == "NOTIFY"]


def test_nobody_is_told_where_nothing_is_set(site, path, notifier):
    notifier.ready(site)
    notifier.wait(1.0)
    assert events(path) == [] and notifier.said == [] and "notified run" not in SiteFile(path).about


def test_an_experiment_is_told_once_whoever_asks(site, path, notifier):
    with hook() as server:
        keep(SiteFile(path), Settings(webhook=Webhook(f"http://127.0.0.1:{server.server_port}")))
        for each in (notifier, Notifier(path, print), Notifier(path, print)):
            each.ready(cboc.join(storage=path))
            each.wait(10.0)
        assert len(server.got) == 1 and b"trial 1 is ready" in server.got[0][2]
        site.ask(2)
        site.tell(site.to_run[0], 1.0)
        notifier.ready(site)
        notifier.wait(10.0)
        assert len(server.got) == 2 and b"trials 2 and 3 are ready" in server.got[1][2]
    assert events(path) == ["/webhook/run"] * 2 and notifier.said == []


def test_of_many_at_the_same_moment_one_tells(path):
    with hook() as server:
        keep(SiteFile(path), Settings(webhook=Webhook(f"http://127.0.0.1:{server.server_port}")))
        many, start = [Notifier(path, print) for _ in range(4)], threading.Barrier(4)

        def tell(notifier):
            start.wait()
            notifier.ready(cboc.join(storage=path))
            notifier.wait(10.0)

        threads = [threading.Thread(target=tell, args=(each,)) for each in many]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(server.got) == 1


@pytest.mark.parametrize(
    ("error", "event"),
    [
        (Changed(STUDY, STUDY), "changed"),
        (CbocError("the coordinator refused: y = 0.5"), "refused"),
        (Finished("that is all"), "done"),
        (AllFailed("clogged at y = 0.5"), "stopped"),
        (Waiting(Standing(0, ("y",))), None),
        (Unreachable("nobody answers"), None),
    ],
)
def test_why_asking_has_ended_is_told_in_fixed_words(site, path, notifier, error, event):
    with hook() as server:
        keep(SiteFile(path), Settings(webhook=Webhook(f"http://127.0.0.1:{server.server_port}")))
        for _ in range(3):  # at each poll
            notifier.ended(site, error)
        notifier.wait(10.0)
    assert events(path) == ([] if event is None else [f"/webhook/{event}"])
    assert all(b"0.5" not in body and b"clogged" not in body for _, _, body in server.got)


def test_no_outcome_is_in_any_byte_that_comes_in(site, path, notifier, certificate):
    """The planted outcome, its error and its cost, with designs and without, by mail and webhook."""
    with mail_server(certificate) as post, hook() as server:
        secrets = {"user": "anna", "password": "right", "certificate": certificate[0].read_text()}
        by_mail = mail(post.port, "starttls", designs=True, **secrets)
        keep(SiteFile(path), Settings(by_mail, Webhook(f"http://127.0.0.1:{server.server_port}", designs=True)))
        notifier.ready(site)
        notifier.ended(site, CbocError(f"it was {PLANTED}"))
        notifier.ended(site, AllFailed(f"it was {PLANTED}"))
        notifier.done(site)
        notifier.wait(10.0)
    assert notifier.said == [] and len(post.mails) == len(server.got) == 4
    heard = bytes(post.heard) + b"".join(body for _, _, body in server.got)
    heard += b"".join(str(headers).encode() for _, headers, _ in server.got)
    assert heard.count(b"a = 0.") == 2  # designs were asked for
    for secret in (PLANTED, PLANTED / 8, PLANTED * 64):
        assert repr(secret)[:8].encode() not in heard


def test_what_leaves_is_recorded_before(site, path, notifier):
    found = []

    def look(line):
        with line:
            line.recv(1 << 20)
            found.extend(events(path))
            line.sendall(b"HTTP/1.1 204 fine\r\n\r\n")

    with answering(look) as port:
        keep(SiteFile(path), Settings(webhook=Webhook(f"http://127.0.0.1:{port}")))
        notifier.ready(site)
        notifier.wait(10.0)
    assert found == ["/webhook/run"] and notifier.said == []


def test_it_is_tried_again_and_then_once_said(site, path, notifier):
    answers = iter([b"HTTP/1.1 500 no\r\n\r\n", b"HTT", b"HTTP/1.1 200 yes\r\n\r\n"])

    def serve(line):
        with line:
            line.recv(1 << 20)
            line.sendall(next(answers))

    with answering(serve) as port:
        keep(SiteFile(path), Settings(webhook=Webhook(f"http://127.0.0.1:{port}")))
        notifier.ready(site)
        notifier.wait(20.0)
    assert notifier.said == [] and events(path) == ["/webhook/run"] * 3
    keep(SiteFile(path), Settings(webhook=Webhook(f"http://127.0.0.1:{free_port()}")))
    notifier.done(site)
    notifier.wait(20.0)
    (sentence,) = notifier.said
    assert "was not sent: Connection refused. " in sentence and sentence.endswith("Nothing else depends on it.")


def test_nobody_waits_for_a_server_that_hangs(site, path, notifier):
    held = threading.Event()

    def hang(line):
        with line:
            held.wait(30.0)

    with answering(hang) as port:
        keep(SiteFile(path), Settings(webhook=Webhook(f"http://127.0.0.1:{port}")))
        began = time.monotonic()
        notifier.ready(site)
        assert time.monotonic() - began < 2.0
        notifier.wait(0.2)
        assert time.monotonic() - began < 4.0
        held.set()
    assert notifier.said == ["A notification is not sent yet, and is given up: the server has not answered in time."]


def test_settings_that_cannot_be_read_stop_nothing(site, path, notifier):
    SiteFile(path).remember(notify={"mail": 3})
    notifier.ready(site)
    assert "Nobody was notified: what" in notifier.said[0]


def test_who_has_left_has_not_finished(site, path, notifier):
    with hook() as server:
        keep(SiteFile(path), Settings(webhook=Webhook(f"http://127.0.0.1:{server.server_port}")))
        site.leave()
        notifier.done(site)
        notifier.wait(5.0)
        assert server.got == []
