"""Advice on every site of a run."""

from __future__ import annotations

from dataclasses import replace

from cboc.advice.advice import Advice, advise
from cboc.advice.counterfactual import Solo
from cboc.cli.notes import notes
from cboc.cli.show import Row
from cboc.runs.history import History
from cboc.runs.run import ALONE, TOGETHER, Run


def advice_of(run: Run, only: str | None, seed: int | None) -> list[Advice]:
    """Return the advice for all sites, or for one, as they were at the end of one repetition."""
    study, seeds = run.study, run.seeds(TOGETHER)
    chosen = run.chosen(seed, seeds)
    if only is not None:
        study.index(only)
    if seed is None and len(seeds) > 1:
        notes.print(f"This is the repetition with seed {chosen}; there are {len(seeds)}, see --seed.")
    seed = chosen
    together = run.history(TOGETHER, seed)
    alone = run.history(ALONE, seed) if seed in run.seeds(ALONE) else None
    return [_advice(run, together, alone, name, seed) for name in (study.sites if only is None else (only,))]


def _advice(run: Run, together: History, alone: History | None, name: str, seed: int) -> Advice:
    advice = advise(run.site(together, name, seed))
    advice = replace(advice, spending=replace(advice.spending, seconds=()))  # a calendar's times are no seconds
    return advice if alone is None else replace(advice, solo=_beside(together, alone, name) or advice.solo)


def _beside(together: History, alone: History, name: str) -> Solo | None:
    """Compare with the run alone, which needs no estimate, once it is as far as the run together."""
    ours, its = together.best_so_far(name), alone.best_so_far(name)
    if not 1 < len(ours) <= len(its) or len(together.study.objectives) > 1:
        return None
    solo = Solo(together.directions[name], ours, its[: len(ours)], is_played=False, objective=together.study.objective)
    return solo if len(solo.gains) else None


def advice_row(advice: Advice) -> Row:
    """Return the numbers of an advice as a row."""
    return {
        "site": advice.site,
        "mean gain": None if advice.solo is None else advice.solo.gain,
        "log odds": advice.log_odds,
        "consistency": advice.consistency,
        "shared": advice.shared.trials,
        "shared better": advice.shared.better,
        "own": advice.own.trials,
        "own better": advice.own.better,
        "model fit": advice.fit,
        **({"cost": sum(advice.spending.costs)} if advice.spending.costs else {}),
    }


def in_words(advice: Advice) -> str:
    """Return an advice in sentences."""
    sentences = [advice.sentence, advice.warning, advice.comparison, advice.spending.sentence]
    return " ".join(sentence for sentence in sentences if sentence)
