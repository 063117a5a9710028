"""Read a TOML file as a study that can be run."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from cboc.consensus.rules import RULES
from cboc.data.dataset import Dataset, Direction
from cboc.data.goal import Goal
from cboc.errors import CbocError, at, did_you_mean, listed
from cboc.exchange.pace import PACES
from cboc.exchange.study import Study
from cboc.experiment.durations import LogNormal
from cboc.experiment.experiment import Experiment
from cboc.names import check_word
from cboc.problems.problem import Problem
from cboc.site.plate import Plate
from cboc.site.policy import Policy
from cboc.site.site import Site
from cboc.space.space import Space
from cboc.strategy.bayesian import SURROGATES, UTILITIES, named
from cboc.strategy.collaborative import collaborative
from cboc.strategy.gate import Gate
from cboc.strategy.guide.decision import Guide
from cboc.studyfile import wanted
from cboc.studyfile.section import (
    AMOUNT,
    COUNT,
    DURATION,
    FLAG,
    NUMBER,
    POSITIVE,
    SOME,
    TABLE,
    TEXT,
    TEXTS,
    TIME,
    WEIGHT,
    WHOLE,
    Kind,
    Section,
    seconds,
)
from cboc.studyfile.sources import Source, source_of

STUDY_KEYS = (
    "name", "horizon", "rule", "graph", "gate", "shares_best", "guide", "initial", "seed", "quorum", "stop_below",
    "surrogate", "utility", "constraints", "deadline", "pace", "stewards", "plate", "same", "most_cost", "objective",
    "unit", "objectives", "units",
)  # fmt: skip
SITE_KEYS = (
    "name", "direction", "budget", "problem", "scale", "offset", "shift", "noise", "experiment", "program", "data",
    "outcome", "duration", "limits",
)  # fmt: skip
FREE_LINES = """\
# pace = "free"       # every site is answered at once, from the latest of the others: nobody waits;
                      #   "rounds" = everybody waits for everybody (the paper)
"""  # of the template
ROUNDS_LINES = """\
pace = "rounds"       # everybody waits for everybody (the paper);
                      #   "free" = every site is answered at once, from the latest of the others: nobody waits
"""  # instead of them
LARGEST = 1_000_000  # bytes of a study file; one of 200 sites has 40,000
LONG = "7 d"  # a site that never returns does not hold up the others for ever
OWN_KEYS = (
    "gate", "guide", "initial", "seed", "stop_below", "surrogate", "utility", "plate", "same", "most_cost",
)  # fmt: skip  # of [study], in a simulation
TABLES = Kind("a list of tables", lambda value: isinstance(value, list) and all(isinstance(row, dict) for row in value))


@dataclass(frozen=True)
class StudyFile:
    """A study, and everything that a simulation of it needs."""

    path: Path
    study: Study
    goals: Mapping[str, Goal]  # what every site wants of its outcomes
    sources: Mapping[str, Source]  # for the sites that can be simulated
    data: Mapping[str, Dataset]  # results from before the study, for the sites that have any
    seed: int = 0
    initial: int | None = None
    gate: Gate = field(default_factory=Gate)
    guide: Guide = field(default_factory=Guide)
    stop_below: float = 0.0
    surrogate: str = "default"
    utility: str | None = None  # None: the surrogate's own, LogEI or, for the paper's, EI
    durations: Mapping[str, LogNormal] = field(default_factory=dict)  # of simulated experiments, by site
    plate: int = 1  # experiments that a site asks for at a time
    same: tuple[str, ...] = ()  # parameters that have one value in all of them
    most_cost: float | None = None  # of all experiments of a site; None: no limit

    @property
    def directions(self) -> dict[str, Direction]:
        """Which way the first objective is better, by site."""
        return {site: goal.direction for site, goal in self.goals.items()}

    @cached_property
    def experiments(self) -> dict[str, Experiment]:
        """The experiment of each site: it runs a design and returns the outcome."""
        for site in self.study.sites:
            if site not in self.sources:
                raise _without_source(f"{self.path}, [[site]] '{site}'")
        experiments = {}
        for site, source in self.sources.items():
            with at(f"{self.path}, [[site]] '{site}'"):
                experiments[site] = source.experiment(site, self.study.space, self.goals[site], self.seed)
        return experiments

    @property
    def has_programs(self) -> bool:
        """Whether a site's outcomes come from a program: such experiments may take hours."""
        return any(source.is_program for source in self.sources.values())

    @cached_property
    def problems(self) -> dict[str, Problem]:
        """The test problems among the sites' sources, without their noise."""
        problems = {}
        for site, source in self.sources.items():
            with at(f"{self.path}, [[site]] '{site}'"):
                problem = source.noiseless(self.study.space, self.goals[site])
            if problem is not None:
                problems[site] = problem
        return problems

    def alone(self) -> StudyFile:
        """Return this study with every site working alone; by a calendar at the free pace, so that nobody waits.

        What a site runs alone does not depend on the pace, only when it does.
        """
        terms: dict[str, Any] = {"pace": "free", "deadline": None, "quorum": 1} if self.durations else {}
        return replace(self, study=replace(self.study, rule="identity", shares_best=False, **terms))

    def with_seed(self, seed: int) -> StudyFile:
        """Return this study with another seed."""
        return replace(self, seed=seed)

    @property
    def policy(self) -> Policy:
        """The policy of the sites: how they behave."""
        strategy = collaborative(named(self.surrogate, self.utility), self.gate, self.guide)
        return Policy(strategy, self.initial, self.seed, self.stop_below, most_cost=self.most_cost)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `cboc.simulate`: simulate(**file.arguments) runs the study in this process."""
        return {
            "study": self.study,
            "experiments": self.experiments,
            "direction": self.goals,
            "policy": self.policy,
            "data": self.data,
            "durations": dict(self.durations) or None,
            "plate": self.plate,
            "same": self.same,
        }


def template(pace: str = "free") -> str:
    """Return the text of a commented study file that can be run as it is."""
    text = resources.files("cboc.studyfile").joinpath("template.toml").read_text(encoding="utf-8")
    return text if pace == "free" else text.replace(FREE_LINES, ROUNDS_LINES)


def read(path: str | Path) -> StudyFile:
    """Read the study of a TOML file; paths in it are relative to its folder."""
    path = Path(path)
    settings, sites, sources, space = _parts(path)
    study = _study(settings, space, sites)
    goals = {site: wanted.goal(section, study.objectives) for site, section in sites.items()}
    file = StudyFile(
        path=path,
        study=study,
        goals=goals,
        sources=sources,
        data={
            site: _data(section, space, goals[site], path.parent)
            for site, section in sites.items()
            if "data" in section.values
        },
        seed=settings.get("seed", COUNT, 0),
        initial=settings.get("initial", COUNT),
        gate=Gate(settings.get("gate", AMOUNT, Gate().ratio)),
        guide=Guide(settings.get("guide", WEIGHT, Guide().weight)),
        stop_below=settings.get("stop_below", AMOUNT, 0.0),
        surrogate=settings.choose("surrogate", SURROGATES, "default"),
        utility=settings.choose("utility", UTILITIES) if "utility" in settings.values else None,
        durations=_durations(sites),
        plate=settings.get("plate", SOME, 1),
        same=_same(settings, space),
        most_cost=settings.get("most_cost", POSITIVE),
    )
    _ = file.problems  # do they fit the space?
    return file


def _same(settings: Section, space: Space) -> tuple[str, ...]:
    """The parameters that have one value on a plate; raises a sentence if there is no plate for them."""
    plate, same = settings.get("plate", SOME, 1), settings.get("same", TEXTS, ())
    if same and plate == 1:
        raise CbocError(f"{settings.place}: same is for plates; say how many experiments one has, as in plate = 8.")
    with at(f"{settings.place}, same"):
        return Plate.asked(space, plate, 1, same).same


def read_experiment(path: str | Path, site: Site) -> Experiment:
    """Read the experiment of a site that has joined from the site's own section, as in a simulation."""
    _, sections, sources, _ = _parts(Path(path))
    section = sections[site.name]
    wanted.check_same(section, site.goal, wanted.goal(section, site.study.objectives, site.goal))
    if site.name not in sources:
        raise _without_source(section.place)
    with at(section.place):
        return sources[site.name].experiment(site.name, site.study.space, site.goal, site.policy.known_seed)


def _without_source(place: str) -> CbocError:
    return CbocError(
        f"{place}: it has to say where outcomes come from; "
        'add problem = "levy-2", experiment = "file.py:function" or a [site.program].'
    )


@dataclass(frozen=True)
class Terms:
    """The facts of a study that a coordinator needs: never a site's aim, or where its outcomes come from."""

    study: Study
    left_out: tuple[str, ...] = ()  # settings of the file that every site chooses for itself


def read_terms(path: str | Path) -> Terms:
    """Read the terms of a TOML file. Its directions, data and experiments are ignored."""
    settings, sites, _, space = _parts(Path(path))
    return Terms(_study(settings, space, sites), tuple(key for key in OWN_KEYS if key in settings.values))


def _parts(path: Path) -> tuple[Section, dict[str, Section], dict[str, Source], Space]:
    """Return [study], the sites' sections, the sources of their outcomes, and the parameters."""
    top = _load(path)
    settings, sites = _settings(top), _sites(top)
    sources = {
        site: source for site, section in sites.items() if (source := source_of(section, path.parent)) is not None
    }
    return settings, sites, sources, _space(top, settings, sources)


def _load(path: Path) -> Section:
    try:
        content = path.read_bytes()
        if len(content) > LARGEST:
            raise CbocError(f"a study file has at most {LARGEST:,} bytes; {path} has {len(content):,}.")
        text = content.decode("utf-8-sig")  # some editors begin a file with a byte order mark
        top = Section(str(path), tomllib.loads(text))
    except FileNotFoundError:
        raise CbocError(f"there is no file {path}; `cboc init {path}` writes one to start from.") from None
    except OSError as error:
        raise CbocError(f"cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CbocError(f"{path} is not UTF-8 text; save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise CbocError(f"{path} is not valid TOML: {error}.") from None
    except RecursionError:
        raise CbocError(f"{path} has too many lists within lists; a study file has two or three levels.") from None
    except ValueError as error:  # a whole number with thousands of digits
        raise CbocError(f"{path} holds a value that cannot be read: {error}.") from None
    for name in top.values:
        if name not in ("study", "space", "site"):
            raise CbocError(f"{path}: unknown section [{name}]; {did_you_mean(name, ('study', 'space', 'site'))}")
    return top


def _settings(top: Section) -> Section:
    settings = Section(f"{top.place}, [study]", top.need("study", TABLE))
    settings.check_keys(STUDY_KEYS)
    return settings


def _sites(top: Section) -> dict[str, Section]:
    if isinstance(top.values.get("site"), dict):
        raise CbocError(f"{top.place}: every site has its own section, [[site]] with two brackets; found [site].")
    if top.values.get("site", []) == []:
        raise CbocError(f'{top.place}: the section [[site]] is missing; add one for every site, with name = "lab-a".')
    sites: dict[str, Section] = {}
    for number, values in enumerate(top.need("site", TABLES), start=1):
        name = Section(f"{top.place}, [[site]] number {number}", values).need("name", TEXT)
        with at(f"{top.place}, [[site]] number {number}"):
            check_word("a site's name", name)
        section = Section(f"{top.place}, [[site]] '{name}'", values)
        if name in sites:
            raise CbocError(f"{section.place}: the names of sites must differ; this one is there twice.")
        section.check_keys(SITE_KEYS)
        sites[name] = section
    return sites


def _space(top: Section, settings: Section, sources: Mapping[str, Source]) -> Space:
    """Return the parameters of [space] or, without that section, those of the first test problem."""
    parameters: Any = top.get("space", TABLE)
    if parameters is None:
        published = next((source.space for source in sources.values() if source.space is not None), None)
        if published is None:
            raise CbocError(
                f"{top.place}: the section [space] is missing; name the parameters, T = {{low = 20, high = 90}}."
            )
        parameters = published.parameters
    elif "constraints" in parameters:
        raise CbocError(f"{top.place}, [space]: every key is a parameter; 'constraints' belongs in [study].")
    constraints = settings.get("constraints", TEXTS, ())
    with at(f"{top.place}, [space]"):
        return Space(parameters, constraints)


def _durations(sites: Mapping[str, Section]) -> dict[str, LogNormal]:
    """How long simulated experiments take: a number, or {median = 3, spread = 0.2}; of all sites or of none."""
    times = {site: section.get("duration", TIME) for site, section in sites.items() if "duration" in section.values}
    given = {site: time if isinstance(time, dict) else {"median": time} for site, time in times.items()}
    for site, section in sites.items():
        if given and site not in given:
            raise CbocError(f"{section.place}: other sites have a duration, and this one has none; add one.")
    return {site: _duration(Section(f"{sites[site].place}, duration", time)) for site, time in given.items()}


def _duration(section: Section) -> LogNormal:
    section.check_keys(("median", "spread"))
    median, spread = section.need("median", NUMBER), section.get("spread", NUMBER, 0.0)
    with at(section.place):
        return LogNormal(median, spread)


def _study(settings: Section, space: Space, sites: Mapping[str, Section]) -> Study:
    pace = settings.choose("pace", PACES, Study.pace)
    names, units = wanted.objectives(settings)
    budgets = {site: section.get("budget", WHOLE) for site, section in sites.items()}
    terms = {
        "horizon": settings.need("horizon", WHOLE),
        "rule": settings.choose("rule", RULES) if "rule" in settings.values else None,
        "graph": _graph(settings),
        "budgets": {site: budget for site, budget in budgets.items() if budget is not None},
        "shares_best": settings.get("shares_best", FLAG, Study.shares_best),
        "quorum": settings.get("quorum", WHOLE, 1),
        "deadline": seconds(settings.get("deadline", DURATION, LONG if PACES[pace].waits else "none")),
        "pace": pace,
        "stewards": settings.get("stewards", TEXTS, ()),
        "name": settings.get("name", TEXT, "study"),
        "objectives": names,
        "units": units,
    }
    with at(settings.place):
        return Study(space, tuple(sites), **terms)


def _graph(settings: Section) -> Any:
    def accepts(value: Any) -> bool:
        return isinstance(value, str) or (
            isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)
        )

    return settings.get("graph", Kind('"complete", "ring", "star" or a list of pairs of sites', accepts), "complete")


def _data(section: Section, space: Space, goal: Goal, folder: Path) -> Dataset:
    if len(goal.measured) > 1:
        raise CbocError(
            f"{section.place}: data from before are read of one outcome here, and this site measures "
            f"{listed(goal.measured)}; leave data out."
        )
    name, outcome = section.need("data", TEXT), section.get("outcome", TEXT, goal.measured[0])
    with at(section.place):
        return Dataset.from_csv(folder / name, space, outcome, direction=goal.direction)
