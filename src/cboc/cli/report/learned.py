"""What was learned, as sections: sentences and numbers as on the site's page, and the pictures of `cboc plot`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cboc.cli import captions
from cboc.cli.pictures import PICTURES, SAID, Kind, lack
from cboc.cli.report.html import Html
from cboc.cli.report.page import paragraph, picture, section, table
from cboc.cli.view import View
from cboc.data.numbers import written
from cboc.insight import Learned, Prospect
from cboc.insight.found import found
from cboc.insight.prospect import percent
from cboc.plots.terrain import label
from cboc.site.outcomes import best_in_words, outcomes

EXPECTED = "95 of 100 outcomes are expected in such an interval, by the site's own model."


def upcoming(view: View) -> list[Html]:
    """The designs that are to be run, each with the outcomes that are expected of it; nothing if there are none."""
    site, space = view.site, view.site.space
    if not site.to_run:
        return []
    lessons = {name: each for name, each in view.lessons.items() if not isinstance(each, str)}
    columns = ["trial", *(label(space, name) for name in space.names)]
    columns += [f"expected {each.objective.head}" for each in lessons.values()]
    columns += [f"chance of {limit}" for limit in site.goal.limits if limit.outcome in lessons]
    rows = []
    for trial in site.to_run:
        design, prospect = trial.design(space), Prospect.of(lessons, site.goal, trial.x)
        expected = [*map(str, prospect.expected.values()), *map(percent, prospect.chances.values())]
        rows.append([str(trial.number), *(p.shown(design[name]) for name, p in space.parameters.items()), *expected])
    best = f" The best so far is {best_in_words(site)}." if site.goal.is_plain else ""
    note = [paragraph(f"{EXPECTED}{best}", class_="note")] if lessons else []
    if len(rows) > 1:
        return [section("Next designs", table(columns, rows), *note)]
    return [section("Next design", table(["parameter", "value"], [*zip(columns, rows[0], strict=True)]), *note)]


def front(view: View, say: Callable[[str], None]) -> list[Html]:
    """The objectives against each other, and the results on the front; nothing if there is one objective."""
    if lack(view, Kind.FRONT):
        return []
    space, best = view.site.space, [each for each in found(view.site) if each.is_on_front]
    heads = [objective.column for objective in outcomes(view.site)]
    columns = ["result", *heads, *(label(space, name) for name in space.names)]
    rows = [
        [
            each.name,
            *map(written, each.outcomes.values()),
            *(p.shown(each.measured.design[name]) for name, p in space.parameters.items()),
        ]
        for each in best
    ]
    title, said = SAID[Kind.FRONT]
    drawn = _drawn(view, Kind.FRONT, say, said(view))
    return [section(title, *drawn, *([table(columns, rows, is_numeric=True)] if rows else []))]


def sections(view: View, say: Callable[[str], None], *, is_one_of_many: bool = False) -> list[Html]:
    """The sections of a site, outcome by outcome, each with its four or one that says why there are none."""
    names = view.site.goal.measured
    if len(names) == 1:
        return _sections(view, say, f", {view.name}" if is_one_of_many else "")
    whose = f"{view.name}, " if is_one_of_many else ""
    return [each for name in names for each in _sections(view.about(name), say, f", {whose}{name}")]


def _sections(view: View, say: Callable[[str], None], whose: str) -> list[Html]:
    """The four sections of one outcome, or one that says why there are none."""
    if view.lack:
        return [section(f"What was learned{whose}", paragraph(view.lack))]
    known = view.learned
    return [
        section(
            f"{SAID[Kind.IMPORTANCE][0]}{whose}",
            paragraph(known.importance.sentence),
            *_drawn(view, Kind.IMPORTANCE, say, captions.SHARES),
            *([_shares(known)] if len(known.importance.shares) > 1 else []),
        ),
        section(
            f"{SAID[Kind.PREDICTED][0]}{whose}",
            paragraph(known.predicted.sentence),
            *_drawn(view, Kind.PREDICTED, say, captions.LEFT_OUT),
        ),
        *(
            section(f"{SAID[kind][0]}{whose}", *_drawn(view, kind, say, SAID[kind][1](view)))
            for kind in (Kind.SLICES, Kind.CONTOURS)
            if not lack(view, kind)
        ),
    ]


def _drawn(view: View, kind: Kind, say: Callable[[str], None], caption: str) -> Sequence[Html]:
    if lack(view, kind):
        return []
    say(f"drawing: {kind}")
    return [picture(PICTURES[kind](view), f"{SAID[kind][0]}. {SAID[kind][1](view)}", caption)]


def _shares(learned: Learned) -> Html:
    columns = ["parameter", "by itself", "with others", "90 % interval"]
    rows = [
        [
            share.name,
            f"{100 * share.alone:.0f} %",
            f"{100 * share.total:.0f} %",
            "{:.0f} to {:.0f} %".format(*(100 * end for end in share.total_interval)),
        ]
        for share in learned.importance.shares
    ]
    return table(columns, rows, is_numeric=True)


def in_short(view: View) -> Html:
    """What every site of a run has learned, in sentences; and whose pictures follow."""
    rows = []
    for name in view.sites:
        rows += [_in_short(view, name, outcome) for outcome in view.repetition.site(name).goal.measured]
    which = f"{view.whose}; cboc plot --site NAME --seed N draws those of another"
    note = f"Of the first seed, together, by each site's own model. The pictures below are of {which}."
    return section("What each site has learned", table(["site", "in words"], rows), paragraph(note, class_="note"))


def _in_short(view: View, name: str, outcome: str) -> list[str]:
    """A site, with the outcome if it has several, and what it has learned of it in words."""
    lesson, has_several = view.lesson(name, outcome), len(view.course.study.objectives) > 1
    said = lesson if isinstance(lesson, str) else f"{lesson.importance.sentence} {lesson.predicted.sentence}"
    return [f"{name}, {outcome}" if has_several else name, said]
