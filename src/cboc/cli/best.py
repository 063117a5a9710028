"""The best of what was found: one result, or of several objectives all that no other beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.cli.lab import site_of
from cboc.cli.named import weights
from cboc.cli.notes import notes
from cboc.cli.show import Row
from cboc.cli.site_option import hint
from cboc.data.results import Results
from cboc.errors import CbocError
from cboc.site.outcomes import limits_in_words, outcomes, outcomes_of, trial_of
from cboc.site.site import Site


def best_of_site(file: Path, given: Sequence[str] | None) -> list[Row]:
    """The best result in a site's file; of several objectives the front, or one result by the given weights."""
    site = site_of(file)
    if not len(site.dataset):
        raise CbocError(f"{file} holds no result yet; {hint('ask', file)} gives an experiment.")
    if site.goal.is_plain:
        wanted_weights(given, site.study.objectives)
        return [{"site": site.name, site.study.objective.column: site.best.y, **site.best_design}]
    if not site.results.is_allowed.any():
        notes.print(f"No result keeps to {limits_in_words(site)}; this one is nearest to that.")
    return [_row(site, row) for row in chosen(site.results, wanted_weights(given, site.study.objectives))]


def wanted_weights(given: Sequence[str] | None, objectives: Sequence[str]) -> Array | None:
    """The weights of the objectives as shares, if any are given; raises one sentence where there is one objective."""
    if not given:
        return None
    if len(objectives) == 1:
        raise CbocError(
            "--weights says how much each of several objectives counts; this study has one, so leave it out."
        )
    found = np.array(list(weights(given, objectives).values()))
    shares: Array = found / found.sum()
    return shares


def chosen(results: Results, by: Array | None) -> list[int]:
    """The rows of the best results, the best by the first objective first; one, if all break a limit."""
    if by is not None or len(results.goal.aims) == 1 or not results.is_allowed.any():
        return [int(results.merit(by).argmax())]
    rows = np.flatnonzero(results.is_on_front)
    found: list[int] = rows[(-results.scores[rows, 0]).argsort(kind="stable")].tolist()
    return found


def _row(site: Site, row: int) -> Row:
    trial, means = trial_of(site, row), outcomes_of(site, row)
    heads = with_design(
        {each.column: means[each.name] for each in outcomes(site)}, site.space.from_unit(site.results.X[row])
    )
    return {"site": site.name, "trial": "before the study" if trial is None else trial.number, **heads}


def with_design(measured: Mapping[str, Any], design: Mapping[str, Any]) -> dict[str, Any]:
    """Outcomes beside their design; an outcome that is called as a parameter says that it is one."""
    return {f"outcome {name}" if name in design else name: value for name, value in measured.items()} | dict(design)
