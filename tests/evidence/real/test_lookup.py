"""Reading the tables, and looking up a design in them."""

import shutil

import numpy as np
import pytest

from cboc.data.dataset import Direction
from cboc.errors import CbocError
from cboc.evidence.case import begin
from cboc.evidence.real.families import FAMILIES, SIMPLEX, family, tables
from cboc.evidence.real.lookup import Nearest, known, nearest
from cboc.strategy.bayesian import Bayesian

from .small_tables import ABSENT, ADDITIVES, BASES, HALIDES, LIGANDS, yield_of


@pytest.fixture
def copy(folder, tmp_path):
    """The tables in a directory of one's own, to spoil them."""
    return shutil.copytree(folder, tmp_path / "tables")


def test_an_experiment_is_a_look_up(folder):
    sites = tables("aryl-halide", folder)
    assert [site.problem.name for site in sites] == list(HALIDES)
    design = {"base": "B2", "ligand": "L3", "additive": "c"}
    for k, site in enumerate(sites):
        assert site.problem(design) == yield_of(k, 1, 2, 2)
        assert site.problem.space.names == ("base", "ligand", "additive")


def test_an_absent_row_is_a_failed_experiment_and_controls_are_left_out(folder):
    for site in tables("aryl-halide", folder):
        outcomes = site.problem.function.outcomes
        lacking = sum(halide == site.problem.name for halide, *_ in ABSENT)
        assert len(outcomes) == len(BASES) * len(LIGANDS) * len(ADDITIVES) - lacking and outcomes.max() < 99.0
        assert site.problem.optimum == outcomes.max() and site.median == np.median(outcomes)
    chloride = tables("aryl-halide", folder)[0].problem
    design = {"base": "B1", "ligand": "L1", "additive": "a"}
    assert np.isnan(chloride(design))
    case = begin([chloride], 4, 1, 0, Bayesian())
    measured = case.measured(0, chloride.space.to_unit(design)[None])
    assert len(measured) == 0 and len(measured.failures) == 1


def test_a_mixture_goes_to_the_nearest_row(folder):
    site = tables("photo-blends", folder)[0]
    near = {"mat_1": 0.45, "mat_2": 0.28, "mat_3": 0.26, "mat_4": 0.01}
    row = {"mat_1": 0.5, "mat_2": 0.25, "mat_3": 0.25, "mat_4": 0.0}
    assert site.problem(near) == site.problem(row) == site.problem.optimum == 0.1
    assert site.problem.direction is Direction.MINIMISE and site.problem.space == SIMPLEX


def test_rows_of_one_design_count_as_one_with_their_mean():
    table = nearest([((1.0, 0.0), 2.0), ((0.0, 1.0), 5.0), ((1.0, 0.0), 4.0)])
    assert table(np.array([[0.9, 0.1], [0.5, 0.5], [0.0, 0.8]])).tolist() == [3.0, 3.0, 5.0]  # the first on ties


def test_the_way_is_from_the_median_to_the_optimum():
    site = known("s", SIMPLEX, Direction.MINIMISE, Nearest(np.eye(4), np.array([1.0, 2.0, 6.0, 9.0])))
    assert (site.problem.optimum, site.median, site.way) == (1.0, 4.0, 3.0)


@pytest.mark.parametrize("name", FAMILIES)
def test_all_sites_of_a_family_share_one_space(name, folder):
    sites = tables(name, folder)
    assert len(sites) > 1 and len({site.problem.space for site in sites}) == 1
    assert all(site.way > 0.0 for site in sites)


# ------------------------------------------------------------------------------------------------------ mistakes


def spoil(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(CbocError, match="--data is a directory with the public tables, but .*none is not one"):
        family("aryl-halide").read(tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "file", "origin"),
    [
        ("aryl-halide", "aryl_halide.csv", "emdgroup/baybe"),
        ("arylation-solvent", "direct_arylation.csv", "emdgroup/baybe"),
        ("suzuki-pairs", "suzuki_pairs.csv", "b-shields/edbo"),
        ("photo-blends", "photo_wf3.csv", "aspuru-guzik-group/olympus"),
    ],
)
def test_a_missing_file_is_named_with_its_public_source(name, file, origin, copy):
    (copy / file).unlink()
    with pytest.raises(CbocError, match=f"has no {file}; it is .*{origin}.*: save it there under this name"):
        family(name).read(copy)


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "sentence"),
    [
        (
            "aryl-halide",
            "aryl_halide.csv",
            "ligand",
            "ligands",
            "needs the columns base, ligand, .* but has no 'ligand'",
        ),
        (
            "aryl-halide",
            "aryl_halide.csv",
            "chloride,b,",
            "chloride,b,lots of ",
            "line 2: yield is a number, but got 'lots of",
        ),
        ("aryl-halide", "aryl_halide.csv", "chloride,b,", "chloride,b,7,", "line 2 has 6 columns in place of 5"),
        (
            "photo-blends",
            "photo_wf3.csv",
            "0.0,0.0,0.0,1.0",
            "0.0,0.5,0.0,1.0",
            "line 1: fractions are not negative and sum to 1",
        ),
        (
            "photo-blends",
            "photo_wf3.csv",
            "0.0,0.0,0.0,1.0",
            "nan,0.0,0.0,1.0",
            "line 1: mat_1 is a number, but got 'nan'",
        ),
    ],
)
def test_a_file_that_is_not_the_public_one(name, file, old, new, sentence, copy):
    spoil(copy / file, old, new)
    with pytest.raises(CbocError, match=sentence):
        family(name).read(copy)


def test_an_empty_yield_is_an_absent_row(copy):
    line = (copy / "aryl_halide.csv").read_text().splitlines()[1]
    spoil(copy / "aryl_halide.csv", line, line.rpartition(",")[0] + ",")
    assert len(family("aryl-halide").read(copy)[0].problem.function.outcomes) == 28  # of 30, one absent before


def test_one_site_or_one_option_is_not_a_family(copy):
    head, *lines = (copy / "aryl_halide.csv").read_text().splitlines()
    one = [line for line in lines if "iodide" in line]
    (copy / "aryl_halide.csv").write_text("\n".join([head, *one]))
    with pytest.raises(CbocError, match="a family has at least two sites"):
        family("aryl-halide").read(copy)
    (copy / "aryl_halide.csv").write_text("\n".join([head, *(line for line in lines if line.startswith("B1"))]))
    with pytest.raises(CbocError, match="aryl_halide.csv: .*at least 2 options"):
        family("aryl-halide").read(copy)


def test_an_unknown_family():
    with pytest.raises(CbocError, match="no family 'aryl-halides' of real tables; did you mean 'aryl-halide'"):
        family("aryl-halides")
