"""What pictures and reports look at: a course, and what its sites have learned, computed once it is asked for.

The words are those of the site's page, and so are the numbers: both are from `cboc.insight`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from cboc import plots
from cboc.cli.show import many
from cboc.errors import CbocError
from cboc.insight import Learned, Prospect, lack
from cboc.insight.learned import check_outcome
from cboc.plots.terrain import Ground
from cboc.runs.course import Course
from cboc.runs.history import Repetition
from cboc.runs.run import TOGETHER
from cboc.site.site import Site


@dataclass(frozen=True)
class View:
    """A course, and whose pictures of a single site are meant, with which seed."""

    course: Course
    only: str | None = None  # None: every site where all are drawn, the first where one is
    seed: int | None = None  # None: the first
    outcome: str | None = None  # whose lessons are drawn; None: the first
    _known: dict[tuple[str, str], Learned | str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check that the site is there, and that it measures the outcome."""
        if self.only is not None:
            self.course.study.index(self.only)
        if self.outcome is not None and self.course.histories(TOGETHER):
            check_outcome(self.site, self.outcome)

    @cached_property
    def repetition(self) -> Repetition:
        """What happened with the seed that is meant."""
        return self.course.repetition(self.seed)

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that are drawn: all, or the one that is meant."""
        return self.repetition.together.sites if self.only is None else (self.only,)

    @property
    def name(self) -> str:
        """The site whose lessons are drawn."""
        return self.sites[0]

    @cached_property
    def site(self) -> Site:
        return self.repetition.site(self.name)

    @property
    def whose(self) -> str:
        """The site in words, with the study and the seed: 'lab-a in first study, together, seed 0'."""
        seed = self.repetition.name
        return f"{self.name} in {self.course.study.name}{f', together, {seed}' if seed else ''}"

    @property
    def what(self) -> str:
        """The study in words, with the seed: 'first study, seed 0'."""
        return ", ".join(filter(None, [self.course.study.name, self.repetition.name]))

    @property
    def learned(self) -> Learned:
        """What the site has learned; raises one sentence if that is too little."""
        found = self.lesson(self.name)
        if isinstance(found, str):
            raise CbocError(found)
        return found

    @property
    def lack(self) -> str:
        """Why nothing can be said yet of the site; empty if something can."""
        found = self.lesson(self.name)
        return found if isinstance(found, str) else ""

    def lesson(self, name: str, outcome: str | None = None) -> Learned | str:
        """What a site has learned of an outcome, of the one that is meant without a name; or why that is nothing."""
        site = self.site if name == self.name else self.repetition.site(name)
        wanted = outcome or self.outcome or site.goal.measured[0]
        if (name, wanted) not in self._known:
            self._known[name, wanted] = lack(site, wanted) or Learned.of(site, wanted)
        return self._known[name, wanted]

    @property
    def lessons(self) -> dict[str, Learned | str]:
        """What the site has learned of every outcome, by its name."""
        return {outcome: self.lesson(self.name, outcome) for outcome in self.site.goal.measured}

    def about(self, outcome: str) -> View:
        """The same, with the lessons of another outcome."""
        other = replace(self, outcome=outcome)
        other._known.update(self._known)
        return other

    @cached_property
    def prospect(self) -> Prospect | None:
        """What is expected of the next design where several outcomes count; None if there is none to run."""
        site = self.site
        return Prospect.of(self.lessons, site.goal, site.to_run[0].x) if site.to_run else None

    @cached_property
    def grounds(self) -> dict[str, Ground]:
        """What is known of each site's outcomes over two parameters; nothing where there are too few of them."""

        def learned(name: str) -> Learned | None:
            found = self.lesson(name)
            return None if isinstance(found, str) else found

        return plots.grounds(self.course.study.space, self.sites, self.course.problems, learned)

    @property
    def source(self) -> str:
        """What all of it is made from."""
        data = self.site.dataset if self.lack else self.learned.surface.dataset
        failed = f" and {many(len(data.failures), 'failure')}" if len(data.failures) else ""
        return f"From {many(len(data), 'outcome')}{failed}, by the site's own model."

    @property
    def next(self) -> str:
        """What is expected of the next design; empty if there is none to run."""
        if not self.site.to_run or self.lack:
            return ""
        trial = self.site.to_run[0]
        expected = self.learned.objective.of(self.learned.expected(trial.x))
        return f"Star: the next design, trial {trial.number}; {expected} is expected of it."
