"""What was learned, as sections: sentences and numbers as on the site's page, and the pictures of `cboc plot`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cboc.cli import captions
from cboc.cli.pictures import PICTURES, SAID, Kind, lack
from cboc.cli.report.html import Html
from cboc.cli.report.page import paragraph, picture, section, table
from cboc.cli.view import View
from cboc.data.numbers import written
from cboc.insight import Learned
from cboc.plots.terrain import label

EXPECTED = "95 of 100 outcomes are expected in such an interval, by the site's own model."


def upcoming(view: View) -> list[Html]:
    """The designs that are to be run, each with the outcome that is expected of it; nothing if there are none."""
    site, space = view.site, view.site.space
    if not site.to_run:
        return []
    columns = ["trial", *(label(space, name) for name in space.names)]
    columns += [] if view.lack else [f"expected {site.study.objective.head}"]
    rows = []
    for trial in site.to_run:
        design = trial.design(space)
        expected = [] if view.lack else [str(view.learned.expected(trial.x))]
        rows.append([str(trial.number), *(p.shown(design[name]) for name, p in space.parameters.items()), *expected])
    best = "" if view.lack else f"{EXPECTED} The best so far is {site.study.objective.of(written(site.best.y))}."
    note = [paragraph(best, class_="note")] if best else []
    if len(rows) > 1:
        return [section("Next designs", table(columns, rows), *note)]
    return [section("Next design", table(["parameter", "value"], [*zip(columns, rows[0], strict=True)]), *note)]


def sections(view: View, say: Callable[[str], None], *, is_one_of_many: bool = False) -> list[Html]:
    """The four sections of a site, or one that says why there are none."""
    whose = f", {view.name}" if is_one_of_many else ""
    if view.lack:
        return [section(f"What was learned{whose}", paragraph(view.lack))]
    found = view.learned
    return [
        section(
            f"{SAID[Kind.IMPORTANCE][0]}{whose}",
            paragraph(found.importance.sentence),
            *_drawn(view, Kind.IMPORTANCE, say, captions.SHARES),
            *([_shares(found)] if len(found.importance.shares) > 1 else []),
        ),
        section(
            f"{SAID[Kind.PREDICTED][0]}{whose}",
            paragraph(found.predicted.sentence),
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


def _shares(found: Learned) -> Html:
    columns = ["parameter", "by itself", "with others", "90 % interval"]
    rows = [
        [
            share.name,
            f"{100 * share.alone:.0f} %",
            f"{100 * share.total:.0f} %",
            "{:.0f} to {:.0f} %".format(*(100 * end for end in share.total_interval)),
        ]
        for share in found.importance.shares
    ]
    return table(columns, rows, is_numeric=True)


def in_short(view: View) -> Html:
    """What every site of a run has learned, in sentences; and whose pictures follow."""
    rows = []
    for name in view.sites:
        found = view.lesson(name)
        said = found if isinstance(found, str) else f"{found.importance.sentence} {found.predicted.sentence}"
        rows.append([name, said])
    which = f"{view.whose}; cboc plot --site NAME --seed N draws those of another"
    note = f"Of the first seed, together, by each site's own model. The pictures below are of {which}."
    return section("What each site has learned", table(["site", "in words"], rows), paragraph(note, class_="note"))
