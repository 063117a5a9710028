"""A network that reaches the others through a coordinator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from cboc.errors import CbocError
from cboc.exchange import wire
from cboc.exchange.amendment import is_later, is_same
from cboc.exchange.http import Answer, Client, shown, strange
from cboc.exchange.messages import Mix, News, Proposal
from cboc.exchange.network import Changed, Conflict, NotSubmitted, Standing, Waiting
from cboc.exchange.study import Study
from cboc.exchange.study_diff import differences

OPEN, DONE, KNOWN = 202, 204, 200  # no mix yet; done, with an empty answer; here is the answer
LONGEST_DIFFERENCES = 5000  # characters
QUICK = 3.0  # seconds for a question that need not be answered


Message = TypeVar("Message", Mix, News, None)


class Refused(CbocError):
    """The coordinator has refused a message."""


@dataclass(frozen=True)
class Membership:
    """What a site's token stands for: the agreement, its digest, the site's name, and how far it is."""

    agreement: dict[str, Any]
    digest: str
    site: str
    turn: int | None = None  # the one after the latest that the coordinator has from the site
    experiments: int | None = None  # those that the site has proposed to it so far

    @cached_property
    def study(self) -> Study:
        """The study of the agreement."""
        return Study.from_agreement(self.agreement)


@dataclass
class Rest:
    """A `Network` through the coordinator that a client reaches."""

    client: Client
    has_left: bool = False  # the coordinator knows that the site has left: it is told once
    on_leaving: Callable[[], None] | None = None  # called when the coordinator knows
    study: Study | None = None  # the version that the site has accepted

    def submit(self, proposal: Proposal) -> None:
        answer = self.client.send(wire.SUBMIT, wire.proposal_body(proposal), turn=proposal.turn)
        if answer.status != DONE:
            raise self._changed(answer) or self._refusal(answer)

    def mix(self, site: str, turn: int) -> Mix:
        answer = self.client.send(wire.MIX, turn=turn)
        if answer.status == OPEN:
            raise Waiting(wire.read_standing(answer.read(wire.STANDING)))
        if answer.status != KNOWN:
            raise self._refusal(answer)
        said = answer.read(wire.MIXED)
        return self._sensible(lambda: wire.read_mix(site, turn, said))

    def news(self, site: str) -> News:
        said = self._known(wire.HEAR)
        return self._sensible(lambda: wire.read_news(site, said))

    def next_turn(self, site: str) -> int | None:
        """The first turn of a site that the coordinator does not have; None if it does not answer that at once."""
        quick = replace(self.client, patience=min(QUICK, self.client.patience), on_retry=None)
        try:
            return replace(self, client=quick).news(site).turn
        except CbocError:  # if something is wrong, the proposal that follows finds it out
            return None

    def _sensible(self, message: Callable[[], Message]) -> Message:
        """A message of the coordinator; raises one sentence if no coordinator would send it."""
        try:
            return message()
        except CbocError as error:
            raise strange(self.client.url, str(error).rstrip(".")) from None

    def standing(self) -> Standing:
        return wire.read_standing(self._known(wire.STAND))

    def leave(self, site: str) -> None:  # noqa: ARG002 - the token identifies the site
        if self.has_left:
            return
        answer = self.client.send(wire.LEAVE)
        if answer.status != DONE:
            raise self._refusal(answer)
        self.has_left = True
        if self.on_leaving is not None:
            self.on_leaving()

    def agreed(self) -> Study:
        """What is agreed now: the newest version of the study."""
        return self._read(self.membership().agreement)

    def accept(self, site: str, study: Study) -> None:  # noqa: ARG002 - the token identifies the site
        """Tell the coordinator that the site accepts the newest version; it comes back if it had left."""
        answer = self.client.send(wire.ACCEPT, {"digest": study.digest})
        if answer.status != DONE:
            raise self._changed(answer) or self._refusal(answer)
        self.study, self.has_left = study, False

    def _changed(self, answer: Answer) -> Changed | None:
        """The error to raise if a message is refused because the study was amended."""
        agreement = answer.refusal()["agreement"]
        return None if agreement is None or self.study is None else Changed(self.study, self._read(agreement))

    def _read(self, agreement: dict[str, Any], *, is_new: bool = False) -> Study:
        """The study of the coordinator's agreement; raises one sentence if no coordinator would send it."""
        try:
            study = Study.from_agreement(agreement, is_new=is_new)
            if not all(name.isprintable() for name in (study.name, *study.sites)):
                raise ValueError("a name has a control character")
            return study
        except (CbocError, TypeError, KeyError, ValueError, AttributeError, ArithmeticError):
            raise strange(self.client.url, "it sends an agreement that cannot be read") from None

    def join(self, code: str, expected: Study | None = None, site: str | None = None) -> Membership:
        """Use an invitation: from now on the token speaks for its site. Repeating the call is fine.

        If the coordinator's study differs from the expected one, or the invitation is for another site, this raises an
        error that says so, and the invitation stays valid.
        """
        digest = None if expected is None else expected.digest
        body = {"code": code, "token": self.client.token, "digest": digest, "site": site}
        answer = self.client.send(wire.JOIN, {name: value for name, value in body.items() if value is not None})
        if answer.status == KNOWN:
            return self._member(answer.read(wire.MEMBERSHIP), expected, site, is_new=expected is None and site is None)
        if expected is not None and (agreement := answer.refusal()["agreement"]) is not None:
            raise disagreement(expected, agreement)
        raise self._refusal(answer)

    def look(self, code: str) -> Membership:
        """What an invitation is for; it stays as it is."""
        answer = self.client.send(wire.LOOK, {"code": code, "token": self.client.token})
        if answer.status != KNOWN:
            raise self._refusal(answer)
        return Membership(**answer.read(wire.MEMBERSHIP))

    def membership(self) -> Membership:
        """What the site's token stands for."""
        return self._member(self._known(wire.STUDY), is_new=False)

    def _member(
        self, said: dict[str, Any], expected: Study | None = None, site: str | None = None, *, is_new: bool
    ) -> Membership:
        """What the coordinator says about this site; raises one sentence if that cannot be true."""
        there, study = Membership(**said), self._read(said["agreement"], is_new=is_new)
        if there.digest != study.digest or not study.has(there.site) or site not in (None, there.site):
            raise strange(self.client.url, "it says who this site is, or what was agreed, in two ways")
        if expected is not None and not (is_same(expected, study) or is_later(expected, study)):
            raise disagreement(expected, there.agreement)
        if there.turn is not None:
            experiments = there.turn if there.experiments is None else there.experiments
            self._sensible(lambda: study.check_progress(there.site, there.turn or 0, experiments))
        return there

    def clock(self) -> float:
        """The coordinator's time, to the second."""
        return self.client.send(wire.HEALTH).time()

    def _known(self, endpoint: wire.Endpoint) -> dict[str, Any]:
        answer = self.client.send(endpoint)
        if answer.status != KNOWN:
            raise self._refusal(answer)
        return answer.read(endpoint.gives)

    def _refusal(self, answer: Answer) -> CbocError:
        """The error to raise for a refusal."""
        said = answer.refusal()
        if said["reason"] == "waiting":
            if said["standing"] is None:
                return strange(self.client.url, "it says that a round is open, but not which")
            return Waiting(wire.read_standing(said["standing"]), said["error"])
        if said["reason"] == "conflict":
            return Conflict(said["error"])
        if said["reason"] == "not submitted":
            return NotSubmitted(said["error"])
        return Refused(f"the coordinator at {self.client.url} refused: {said['error']}")


def disagreement(expected: Study, agreement: dict[str, Any], whose: str = "the coordinator's") -> CbocError:
    """The error that lists how the expected study (here) differs from that of the coordinator, or others (there)."""
    here, there = ({**terms, "version": None} for terms in (expected.agreement(), agreement))  # a file has none
    lines = differences(here, there) or ["it looks the same, but is refused"]
    return Refused(f"{whose} study is not yours: {shown('; '.join(lines), LONGEST_DIFFERENCES)}.")
