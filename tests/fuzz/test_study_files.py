"""Study files that somebody, or something, has changed: each is refused in a sentence, or is the study that it says."""

import json
import math
import random
import re
import tomllib

import pytest

from cboc import CbocError, Float, Int, Ledger, Site, Study
from cboc.runs.run import record_of
from cboc.studyfile import read, read_terms, template

from .damage import is_a_sentence, splices

RICH = """
[study]
name = "fuzz"
horizon = 6
rule = "uniform"
graph = [["lab-a", "lab-b"], ["lab-b", "lab-c"]]
gate = 0.1
shares_best = true
guide = 1
seed = 3
initial = 4
quorum = 2
stop_below = 0.001
surrogate = "default"
utility = "log_ei"
constraints = ["buffer + salt <= 1"]
deadline = "36 h"
pace = "rounds"
plate = 2
same = ["T"]
most_cost = 500
objective = "yield"
unit = "%"
[space]
T = {low = 20, high = 90, unit = "C"}
enzyme = {low = 0.001, high = 0.5, log = true}
buffer = {low = 0, high = 1}
salt = {low = 0, high = 1, step = 0.1}
cycles = {type = "int", low = 5, high = 40}
solvent = {options = ["water", "ethanol", "DMSO"]}
[[site]]
name = "lab-a"
direction = "minimise"
budget = 5
duration = 3
[[site]]
name = "lab-b"
direction = "max"
duration = {median = 3, spread = 0.2}
[[site]]
name = "lab-c"
direction = "minimise"
duration = 3
"""
HOSTILE = (
    *("0", "1", "-1", "2", "3.5", "-0.0", "1e400", "-inf", "nan", "9" * 30, "9" * 5000, "1_0", "0x1F", "true", "false"),
    *(
        '""',
        '" "',
        '"lab-a"',
        '"nan"',
        '"\\u202e"',
        '"\\u0000"',
        '"=1+1"',
        f'"{"x" * 5000}"',
        "'\\d'",
        '"free"',
        '"identity"',
    ),
    *("[]", "[[]]", "{}", "[1, 2]", '["lab-a"]', '[["lab-a", "lab-a"]]', "{low = 1}", "{a = {b = {c = 1}}}"),
    *("1979-05-27T07:32:00Z", "07:32:00", '"0 d"', '"9999999 d"', '"none"', "[" * 3000 + "]" * 3000, '"""\na\nb"""'),
)
VALUE = re.compile(r"^(\w+ = )(.+?)( *#.*)?$", re.MULTILINE)
INNER = re.compile(r"(?<=[{,] )(\w+ = )([^,{}\[\]]+|\[[^\]]*\])|(?<=\{)(\w+ = )([^,{}\[\]]+)")


@pytest.fixture
def judge(tmp_path):
    """A function that reads a file with this text, and says what became of it: refused, the same, or another study."""
    path, first = tmp_path / "study.toml", {}

    def agreement(content):
        path.write_bytes(content)
        terms = read_terms(path)
        again = Study.from_agreement(json.loads(json.dumps(terms.study.agreement())))
        assert again.digest == terms.study.digest
        file = read(path)
        assert file.study.digest == terms.study.digest
        check(tomllib.loads(content.decode("utf-8-sig")), file)
        name = file.study.sites[0]
        site = Site(file.study, name, Ledger(file.study), direction=file.directions[name], policy=file.policy)
        if site.initial > 0:
            design = site.ask().design(site.space)
            assert site.space.to_unit(design).shape == (site.space.dimension,)
        return json.dumps([record_of(file), file.seed])

    def judge(content, base):
        if base not in first:
            first[base] = agreement(base)
        refusal = ""
        try:
            found = agreement(content)
        except CbocError as error:
            refusal = str(error)
        if refusal:
            assert is_a_sentence(refusal), refusal
            return "refused"
        return "the_same_study" if found == first[base] else "another_study"

    return judge


def check(said, file):
    """What a plain reader of the file finds there is in the study: nothing was left out, and nothing made up."""
    settings, study = said["study"], file.study
    assert [site["name"] for site in said["site"]] == list(study.sites)
    assert settings["horizon"] == study.horizon and settings.get("name", study.name) == study.name
    for key, found in {
        "gate": file.gate.ratio,
        "guide": file.guide.weight,
        "seed": file.seed,
        "initial": file.initial,
        "stop_below": file.stop_below,
        "plate": file.plate,
        "most_cost": file.most_cost,
        "quorum": study.quorum,
        "shares_best": study.shares_best,
        "pace": study.pace.name,
        "objective": study.objective.name,
        "unit": study.objective.unit,
    }.items():
        assert settings.get(key, found) == found, key
    for site in said["site"]:
        assert site.get("budget", study.budget(site["name"])) == study.budget(site["name"])
    for name, given in said.get("space", {}).items():
        parameter = study.space.parameters[name]
        given = dict(zip(("low", "high"), given, strict=True)) if isinstance(given, list) else given
        if isinstance(parameter, Float | Int):
            assert (given["low"], given["high"]) == (parameter.low, parameter.high) and math.isfinite(given["high"])
            assert given.get("log", False) == parameter.log and given.get("unit", "") == parameter.unit
        else:
            assert tuple(given["options"]) == parameter.options
    assert set(said.get("space", study.space.parameters)) == set(study.space.parameters)


def tried(variants, base, judge, tally, what):
    counts = dict.fromkeys(("refused", "the_same_study", "another_study"), 0)
    for content in variants:
        try:
            counts[judge(content, base)] += 1
        except Exception:
            print(content.decode(errors="replace")[:3000])
            raise
    tally(what, **counts)
    return counts


BASES = {"rich": RICH.encode(), "template": template().encode()}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_flipped_bits_in_a_study_file(base, judge, tally):
    draw = random.Random(1)
    places = draw.sample(range(len(base)), 300)
    variants = [base[:k] + bytes([base[k] ^ (1 << draw.randrange(8))]) + base[k + 1 :] for k in places]
    tried(variants, base, judge, tally, "flipped bits in a study file")


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_study_files_with_pieces_missing_or_elsewhere(base, judge, tally):
    tried(splices(base, 300, longest=60), base, judge, tally, "spliced study files")


def test_values_of_another_kind(judge, tally):
    base, variants = RICH.encode(), []
    for found in [*VALUE.finditer(RICH)]:
        for value in HOSTILE:
            variants.append(RICH[: found.start(2)] + value + RICH[found.end(2) :])
    for found in INNER.finditer(RICH):
        group = 2 if found[2] else 4
        for value in HOSTILE[::2]:
            variants.append(RICH[: found.start(group)] + value + RICH[found.end(group) :])
    assert len(variants) > 1500
    draw = random.Random(2)
    chosen = draw.sample(variants, 400)
    tried([text.encode() for text in chosen], base, judge, tally, "study files with a hostile value")


def test_keys_that_are_doubled_missing_or_misspelt(judge, tally):
    base, lines, variants = (
        RICH.encode(),
        RICH.splitlines(keepends=True),
        {"doubled": [], "missing": [], "misspelt": []},
    )
    for k, line in enumerate(lines):
        if not re.match(r"\w+ = |\[", line):
            continue
        variants["doubled"].append("".join([*lines[:k], line, *lines[k:]]))
        variants["missing"].append("".join([*lines[:k], *lines[k + 1 :]]))
        for other in (line.upper(), f"x{line}", line[1:], line[0] + line):
            variants["misspelt"].append("".join([*lines[:k], other, *lines[k + 1 :]]))
    for how, texts in variants.items():
        counts = tried([text.encode() for text in texts], base, judge, tally, f"study files with a key {how}")
        if how == "misspelt":  # no key that is not known is passed over
            assert counts["the_same_study"] == 0
