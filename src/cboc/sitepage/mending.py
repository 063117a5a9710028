"""Mending what was told: the page of one trial, with forms to change it, and with all that it was before.

A form says which state of the trial it was made for. One that is sent twice counts once; one that is out of date,
because the trial was changed meanwhile, changes nothing, and is shown again beside what is there now.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from cboc.errors import CbocError
from cboc.site.left import stays
from cboc.site.site import Site
from cboc.site.trial import OVER, Status, Trial
from cboc.sitepage import past
from cboc.sitepage.form import SEM, Fields, Mistyped, Y, field_of, read_cost, read_entry
from cboc.sitepage.front import Front
from cboc.sitepage.questions import MEND, SURE, ask, asked_about
from cboc.sitepage.received import Form, number_in
from cboc.sitepage.session import Session

Show = Callable[..., Response]
Act = Callable[[Site, Trial], Trial]
STALE = "trial {} has changed since this form was made, and stays as it is now. Look at it, and send the form again."
NOTICES = {
    "outcome": "This is kept now. What was told before stays in the list below.",
    "reason": "The failure is kept so.",
    "remark": "The remark is kept.",
}


def mending(session: Session, show: Show) -> APIRouter:
    """The page /trials/NUMBER, its fold-out in the history, and its forms."""
    router, page = APIRouter(), partial(_page, session, show)

    def changed(number: int, form: str, fields: Fields, act: Act, after: str = "") -> Response:
        """Apply `act` to the trial, unless that was done before; show the form again if it cannot be."""
        if MEND in fields:
            return page(number, form=form, typed=fields)
        try:
            site = session.open()
            trial = site.trial(number)
            would_be = act(site.twin(), trial)
            if would_be != trial:  # else the form was sent twice
                if fields.get("seen") != past.state(trial):
                    raise CbocError(STALE.format(number))
                if form == "outcome" and SURE not in fields and (doubts := asked_about(site, would_be)):
                    return ask(show, site, f"/trials/{number}/{form}", fields, doubts, number)
                act(site, trial)
        except CbocError as error:
            return page(number, 422 if isinstance(error, Mistyped) else 409, str(error), form, fields)
        return RedirectResponse(after or f"/trials/{number}?kept={form}", 303)

    @router.get("/trials/{number:int}")
    def look(number: int, kept: str = "") -> Response:
        return page(number, form=kept)

    @router.get("/trials/{number:int}/past")
    def before(number: int) -> Response:
        site = session.open()
        return show("past.html", site=site, steps=past.steps(session.file.history(site.trial(number).number), site))

    @router.post("/trials/{number:int}/outcome")
    def outcome(number: int, fields: Form) -> Response:
        return changed(number, "outcome", fields, lambda site, trial: _tell(site, trial, fields))

    @router.post("/trials/{number:int}/reason")
    def reason(number: int, fields: Form) -> Response:
        return changed(number, "reason", fields, lambda site, trial: _fail(site, trial, fields))

    @router.post("/trials/{number:int}/undo")
    def undo(number: int, fields: Form) -> Response:
        return changed(number, "undo", fields, _reopen, f"/?trial={number}&undone={number}")

    @router.post("/trials/{number:int}/remark")
    def remark(number: int, fields: Form) -> Response:
        text = fields.get("remark", "")
        return changed(number, "remark", fields, lambda site, trial: site.annotate(trial, text))

    return router


def _page(
    session: Session,
    show: Show,
    number: int,
    status: int = 200,
    error: str = "",
    form: str = "",
    typed: Fields | None = None,
) -> Response:
    """The page of a trial; after a mistake with the form that was sent, and what was typed into it."""
    site = session.open()
    trial = site.trial(number)
    return show(
        "trial.html",
        status,
        site=site,
        trial=trial,
        state=past.state(trial),
        steps=past.steps(session.file.history(number), site),
        stays=stays(site, trial),
        error=error,
        form=form,
        typed=typed or {},
        told=_told(site, trial),
        standing_now=Front.of(site).by_trial.get(number),
        notice=NOTICES.get(form, "") if typed is None else "",
    )


def late(session: Session, show: Show, fields: Fields) -> Response:
    """The page of a trial that was told before this form of the bench arrived, with what was typed into that."""
    number = number_in(fields)
    return _page(
        session,
        show,
        number,
        409,
        STALE.format(number),
        "outcome" if any(name.partition(".")[0] == Y for name in fields) else "",
        fields,
    )


def says_the_same(site: Site, trial: Trial, act: Act) -> bool:
    """Whether a form changes nothing, as one that is sent twice."""
    try:
        return act(site.twin(), trial) == trial
    except CbocError:
        return False


def _tell(site: Site, trial: Trial, fields: Fields) -> Trial:
    entry = read_entry(fields, site.space, trial.design(site.space), site.goal.measured)
    _refuse_less(trial, entry.cost)
    return site.tell(trial, entry.outcome, ran=entry.ran, cost=entry.cost, is_correction=True)


def _fail(site: Site, trial: Trial, fields: Fields) -> Trial:
    reason, cost = fields.get("reason", "").strip(), read_cost(fields)
    if trial.status is not Status.FAILED:
        raise CbocError(f"trial {trial.number} is {trial.status}, and not failed; a failure is told on the bench.")
    if trial.note and not reason:
        raise Mistyped("a reason is changed, and not taken away; write another one.")
    _refuse_less(trial, cost)
    return site.fail(trial, reason, cost=cost)


def _refuse_less(trial: Trial, cost: float | None) -> None:
    """Raise one sentence if a field for the cost was emptied: that would change nothing, and look as if it did."""
    if trial.cost is not None and cost is None:
        raise Mistyped(f"the cost was {trial.cost:g}, and is changed, not taken away; write another one, or 0.")


def _reopen(site: Site, trial: Trial) -> Trial:
    return site.reopen(trial) if trial.status in OVER else trial


def _told(site: Site, trial: Trial) -> Fields:
    """The fields of what is told of a trial now, with all digits."""
    numbers, names = {"cost": trial.cost}, site.goal.measured
    for k, name in enumerate(names):
        told = trial.outcomes.get(name)
        numbers[field_of(Y, k, names)] = None if told is None else told.mean
        numbers[field_of(SEM, k, names)] = None if told is None else told.sem
    return {name: "" if value is None else f"{value!r}".removesuffix(".0") for name, value in numbers.items()}
