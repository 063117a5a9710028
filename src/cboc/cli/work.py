"""A site whose experiments run automatically: ask, run, tell or fail, until the study is over."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Annotated

import typer

from cboc.cli.lab import LONG, asked, say_whose_strategy, site_of
from cboc.cli.notes import notes
from cboc.cli.notifying import notifying
from cboc.cli.progress_bar import in_words
from cboc.cli.show import many
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.errors import CbocError
from cboc.runs.first_runs import MOST_FAILURES, AllFailed, FirstRuns
from cboc.runs.simulation import run_trial
from cboc.site.ending import Finished
from cboc.site.outcomes import best_in_words, measured_in_words
from cboc.site.site import Site
from cboc.site.trial import Status, Trial
from cboc.storage.author import Door
from cboc.studyfile import read_experiment, read_terms

WORTH_SAYING = 60.0  # seconds that are left, from which a line says so


def work(
    study: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study file, with this site's program.")],
    file: SiteOption = FILE,
    most: Annotated[int | None, typer.Option(min=1, help="Stop after this many.", show_default="all")] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Go on even if the first 3 experiments all fail.")
    ] = False,
) -> None:
    """Run the site's experiments one after the other, until the study is over.

    The site's own [[site]] in the study file says how: by a program, a Python function or a test problem. An
    experiment that fails is kept as failed, with the reason, and the next one follows. You can stop or kill the
    command at any moment: started again, it begins with the experiment that has no result yet. If the first
    experiments of a command all fail, the program is set up wrongly: it stops with the reason. A program or function
    may also say what an experiment cost; a limit given by `cboc join --most-cost` ends the work.

    Example: `cboc work study.toml --file plant-a.db`
    """
    site = site_of(file, study=read_terms(study).study, goes_on_alone=False, patience=LONG, door=Door.PROGRAM)
    say_whose_strategy(file)
    experiment, is_warned = read_experiment(study, site), False
    first, took = FirstRuns(min(MOST_FAILURES, most or MOST_FAILURES)), list[float]()
    _say_how_many(site, most)
    try:
        with notifying(site, file) as notifier:
            for _ in count() if most is None else range(most):
                trial, began = asked(site, is_waiting=True)[0], monotonic()
                trial = run_trial(site, trial, experiment)
                took.append(monotonic() - began)
                notes.print(f"{_line(site, trial, took[-1])}{_left(_ahead(site, most, len(took)), took)}")
                is_warned = is_warned or _warn_of_no_cost(site, trial)
                if not keep_going:
                    first.look_at(trial)
            notifier.done(site)
    except AllFailed as failed:
        again = "correct that, and start this again; --keep-going goes on."
        raise CbocError(f"{failed} Nothing more is run: {again}") from None
    except Finished as finished:
        notes.print(f"{finished} {hint('best', file)} shows what it has found.")
    except KeyboardInterrupt:
        notes.print("Stopped; the same command goes on, with the experiment that has no result yet.")
        raise typer.Exit(130) from None


def _ahead(site: Site, most: int | None, done: int = 0) -> int:
    """How many experiments this command still runs, at most."""
    begins = max(0, site.initial - sum(trial.turn is None for trial in site.trials))
    rest = len(site.open_trials) + begins + max(0, site.study.budget(site.name) - site.turns)
    return rest if most is None else min(rest, most - done)


def _say_how_many(site: Site, most: int | None) -> None:
    """Say before long work how much of it there is."""
    if ahead := _ahead(site, most):
        notes.print(
            f"Up to {many(ahead, 'experiment')} to run, one after the other; Ctrl-C stops, and keeps what is done."
        )


def _left(ahead: int, took: list[float]) -> str:
    """About how long the rest takes, from the experiments so far; nothing is known of waiting for the others."""
    left = ahead * median(took)
    return f" About {in_words(left)} left." if left >= WORTH_SAYING else ""


def _line(site: Site, trial: Trial, took: float) -> str:
    """One line on a trial: its design, its outcome, and how far the study is."""
    design = trial.design(site.space).items()
    ran = ", ".join(f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}" for name, value in design)
    total = site.initial + site.study.budget(site.name)
    cost = "" if trial.cost is None else f", cost {trial.cost:g}"
    start = f"Trial {trial.number}, {trial.number + 1} of {total} ({ran}; {took:.1f} s{cost})"
    if trial.y is None:
        return f"{start}: failed, {trial.note}."
    means = {name: measured.mean for name, measured in trial.outcomes.items()}
    return f"{start}: {measured_in_words(site, means)}, best so far {best_in_words(site)}."


def _warn_of_no_cost(site: Site, trial: Trial) -> bool:
    """Say so if an experiment does not tell what it cost, and there is a limit to that."""
    is_missing = site.policy.most_cost is not None and trial.cost is None and trial.status == Status.COMPLETE
    if is_missing:
        notes.print(
            f"The limit of {site.policy.most_cost:g} has no effect: this experiment does not say what it cost; return "
            "Measurement(y, cost=...) from a function, or give a program cost_pattern or cost_key."
        )
    return is_missing
