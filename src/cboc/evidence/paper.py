"""The rows of the paper's Tables 1 to 4, and their published numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cboc.evidence.scenario import Kind, Scenario, Trouble

Published = dict[str, tuple[float, float]]  # method -> mean final Gap, and the number in brackets


@dataclass(frozen=True)
class PaperTable:
    """One table of Sec. 5: its rows, and the numbers that the paper reports."""

    number: int
    title: str
    rows: dict[Scenario, Published]

    @property
    def scenarios(self) -> list[Scenario]:
        return list(self.rows)


COLUMNS = {"cboc-l": "CBOC-L", "cboc-u": "CBOC-U", "individual": "Individual", "fts-de": "FedBO"}
"""The paper's methods: ours on the left, the paper's name on the right. Its FedBO is FTS-DE without privacy noise: see
docs/decisions/fts.md."""


def _row(
    leader: tuple[float, float],
    uniform: tuple[float, float] | None,
    alone: tuple[float, float],
    fedbo: tuple[float, float],
) -> Published:
    row = {"cboc-l": leader, "cboc-u": uniform, "individual": alone, "fts-de": fedbo}
    return {method: numbers for method, numbers in row.items() if numbers is not None}


TABLES = (
    PaperTable(
        1,
        "Levy, the same function at all K = 5 sites",
        {
            Scenario("levy-2", 5, Kind.SAME): _row((0.993, 0.002), None, (0.931, 0.004), (0.990, 0.002)),
            Scenario("levy-4", 5, Kind.SAME): _row((0.987, 0.003), None, (0.926, 0.007), (0.951, 0.006)),
            Scenario("levy-8", 5, Kind.SAME): _row((0.969, 0.010), None, (0.925, 0.013), (0.938, 0.009)),
        },
    ),
    PaperTable(
        2,
        "Levy, a version of its own at each of K = 10 sites",
        {
            Scenario("levy-2", 10): _row((0.990, 0.001), None, (0.942, 0.005), (0.958, 0.003)),
            Scenario("levy-4", 10): _row((0.984, 0.002), None, (0.933, 0.012), (0.940, 0.009)),
            Scenario("levy-8", 10): _row((0.949, 0.008), None, (0.917, 0.008), (0.903, 0.011)),
        },
    ),
    PaperTable(
        3,
        "Shekel-10 with more and more sites",
        {
            Scenario("shekel-10", 5): _row((0.475, 0.053), (0.462, 0.052), (0.350, 0.055), (0.370, 0.047)),
            Scenario("shekel-10", 10): _row((0.516, 0.049), (0.501, 0.029), (0.364, 0.035), (0.422, 0.040)),
            Scenario("shekel-10", 15): _row((0.577, 0.033), (0.553, 0.036), (0.356, 0.022), (0.496, 0.053)),
            Scenario("shekel-10", 20): _row((0.592, 0.036), (0.572, 0.015), (0.335, 0.028), (0.535, 0.051)),
        },
    ),
    PaperTable(
        4,
        "Other functions, K = 10",
        {
            Scenario("branin", 10): _row((0.992, 0.000), (0.990, 0.001), (0.975, 0.001), (0.986, 0.001)),
            Scenario("ackley-5", 10): _row((0.656, 0.057), (0.641, 0.053), (0.501, 0.039), (0.632, 0.041)),
            Scenario("hartmann-6", 10): _row((0.968, 0.005), (0.959, 0.002), (0.941, 0.001), (0.955, 0.003)),
        },
    ),
)

SCENARIOS = [scenario for table in TABLES for scenario in table.scenarios]
DISPLACED = [replace(scenario, is_displaced=True) for scenario in SCENARIOS]
FURTHER = [
    Scenario("levy-2", 10, Kind.UNRELATED),
    Scenario("levy-4", 10, Kind.UNRELATED),
    Scenario("levy-2", 10, is_displaced=True, noise=0.1),
    Scenario("levy-4", 10, is_displaced=True, noise=0.1),
    Scenario("rosenbrock-4", 10, is_displaced=True),
    Scenario("styblinski-tang-4", 10, is_displaced=True),
    Scenario("michalewicz-5", 10, is_displaced=True),
]
"""Rows that the paper does not have: sites with nothing in common, noise, and other problems."""
LIFE = [
    Scenario("levy-4", 10, Kind.OUTLIER, is_displaced=True),
    Scenario("levy-4", 10, Kind.GROUPS),
    *(Scenario("levy-4", 10, is_displaced=True, trouble=trouble) for trouble in Trouble),
]
"""Troubles of studies in real life, for the methods that can handle them."""
SIZES = [Scenario("shekel-10", sites) for sites in (2, 3, 50)]
"""Table 3 continued: fewer and more sites than in the paper."""
