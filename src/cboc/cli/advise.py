"""Advice on every site of a run."""

from __future__ import annotations

from cboc.advice import Advice, advise
from cboc.cli.run import TOGETHER, Run
from cboc.cli.show import Row
from cboc.errors import CbocError
from cboc.network.ledger import Ledger
from cboc.site import Site
from cboc.strategy import named


def advice_of(run: Run, only: str | None, seed: int | None) -> list[Advice]:
    """For all sites, or one, as they were at the end of one repetition."""
    seeds = run.seeds(TOGETHER)
    if seed is not None and seed not in seeds:
        raise CbocError(f"{run.directory} has the seeds {', '.join(map(str, seeds)) or 'of no run'}; {seed} came.")
    if not seeds:
        raise CbocError(f"{run.directory} holds no trials yet; cboc simulate with --resume continues it.")
    seed = seeds[0] if seed is None else seed
    history = run.history(TOGETHER, seed)
    if only is not None:
        history.study.index(only)
    names = history.study.sites if only is None else (only,)
    return [
        advise(
            Site(
                history.study,
                name,
                Ledger(history.study),
                direction=history.directions[name],
                strategy=named(run.record["surrogate"], run.record["utility"]),
                seed=seed,
                trials=history.of(name),
            )
        )
        for name in names
    ]


def advice_row(advice: Advice) -> Row:
    return {
        "site": advice.site,
        "gain": None if advice.solo is None else advice.solo.gain,
        "best": None if advice.solo is None else float(advice.solo.together[-1]),
        "alone": None if advice.solo is None else float(advice.solo.alone[-1]),
        "evidence": advice.evidence,
        "agreement": advice.agreement,
        "shared": advice.shared.trials,
        "of them better": advice.shared.better,
        "own": advice.own.trials,
        "of these better": advice.own.better,
        "model": advice.fit,
    }
