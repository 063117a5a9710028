"""`cboc earlier` and `cboc join --data`: an old table is shown, asked about, and taken in."""

import openpyxl
import pytest
from typer.testing import CliRunner

import cboc
from cboc.cli.app import app

STUDY = '[study]\nname = "by hand"\nhorizon = 6\nobjective = "yield"\nunit = "%"\n[space]\n'
STUDY += 'T = {low = 20, high = 90, unit = "°C"}\np = [1, 9]\n[[site]]\nname = "lab-a"\n[[site]]\nname = "lab-b"\n'
OLD = "Old runs;;;;\nT / °C;P;Yield;SD;Remark\n62,5;1,5;83,5;1,2;fine\n95;2;50;;\n30;2,5;;;stopped\n40;3;70;;\n"
JOIN = ("join", "stick:", "--site", "lab-a", "--study", "study.toml", "--direction", "max")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CBOC_SITE", raising=False)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "old.csv").write_text(OLD)
    return tmp_path


def call(*arguments, said=None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=said)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments, said=None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=said)
    assert result.exit_code == 2 and "Traceback" not in result.output, result.output
    return result.stderr


def data(folder):
    return cboc.join(storage=folder / "site.db").data


def test_joining_shows_the_table_asks_and_then_joins(folder):
    shown = call(*JOIN, "--data", "old.csv", said="2\n2\ny\n")
    for line in (
        "T / °C  T            its name, in °C", "Remark  -            a remark; it is not needed",
        "line 4: T: expected a number from 20 to 90 °C, but got 95.0.", "Decimal commas in T / °C, P and Yield.",
        "Column 'SD' looks like a standard deviation, which is not a standard error",
        "To say the same without being asked: --column SD=ignore --answer empty=drop",
        "Take 2 rows from old.csv? [y/N]",
    ):  # fmt: skip
        assert line in shown.stdout, shown.stdout
    assert "begins with 2 results from before the study. Joined 'by hand'" in " ".join(shown.stderr.split())
    assert data(folder).y.tolist() == [83.5, 70] and not len(data(folder).failures)


def test_a_script_says_it_all_at_once(folder):
    said = ("--column", "SD=ignore", "--answer", "empty=failed", "--yes")
    call(*JOIN, "--data", "old.csv", *said)
    assert data(folder).y.tolist() == [83.5, 70] and len(data(folder).failures) == 1


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (("--yes",), "Are these standard errors all the same? Answer it, as in --column SD=sem or --column SD=ignore."),
        (("--column", "SD=ignore", "--yes"), "failed, or not run? Answer it, as in --answer empty=failed or --answer"),
        ((), "Are these standard errors all the same? Answer it, as in"),  # nobody is there to be asked
        (("--column", "SD"), "--column is HEADER=USE, as in 'Yield / %=y'; got 'SD'."),
        (("--column", "SD=sme"), "column 'SD' cannot be 'sme'; did you mean 'sem'?"),
        (("--answer", "empty"), "--answer is NAME=VALUE, as in empty=drop; got 'empty'"),
        (("--answer", "empty=perhaps"), "'empty' is answered by failed or drop; this is 'perhaps'."),
        (("--answer", "header=one"), "'header' is the number of a line, from 1; this is 'one'."),
    ],
)
def test_what_is_open_is_not_agreed_to_and_nothing_is_joined(folder, said, sentence):
    assert sentence in " ".join(refused(*JOIN, "--data", "old.csv", *said).split())
    assert not (folder / "site.db").exists()


def test_no_is_no(folder):
    said = ("--column", "SD=ignore", "--answer", "empty=drop")
    assert "nothing was taken from old.csv" in refused(*JOIN, "--data", "old.csv", *said, said="n\n")
    assert not (folder / "site.db").exists()
    assert "--yes agrees in a script." in refused(*JOIN, "--data", "old.csv", *said)  # nobody is there to be asked
    assert "cannot read nowhere.csv: No such file" in refused(*JOIN, "--data", "nowhere.csv")


def test_in_a_folder_nothing_is_written_before_somebody_has_agreed(folder):
    shared = folder / "shared"
    words = ("join", f"folder:{shared}", "--site", "lab-a", "--study", "study.toml", "--direction", "max")
    said = ("--data", "old.csv", "--column", "SD=ignore", "--answer", "empty=drop")
    refused(*words, *said, said="n\n")
    assert not shared.exists() and not (folder / "site.db").exists()
    call(*words, *said, said="y\n")
    second = ("join", f"folder:{shared}", "--site", "lab-b", "--direction", "max", "--file", "b.db")
    call(*second, *said, "--yes")  # the study is in the folder
    assert cboc.join(storage=folder / "b.db").data.y.tolist() == [83.5, 70]


def test_later_until_the_first_experiment_and_not_after_it(folder):
    said = ("--column", "SD=ignore", "--answer", "empty=drop")
    call(*JOIN)
    assert "there is no site file other.db" in refused("earlier", "old.csv", "--file", "other.db")
    told = call("earlier", "old.csv", *said, "--yes").stderr
    assert "site.db begins with 2 results from before the study. Next: cboc ask." in told
    assert data(folder).y.tolist() == [83.5, 70]
    book = openpyxl.Workbook()
    for row in (("T", "p", "yield (%)"), (50, 5, 20)):
        book.active.append(row)
    book.save(folder / "new.xlsx")
    asked = call("earlier", "new.xlsx", said="y\n").stdout
    assert "Take 1 row from new.xlsx, sheet 'Sheet', in place of the 2 that are there? [y/N]" in asked
    assert data(folder).y.tolist() == [20]
    call("ask")
    assert "site.db has asked for its first experiment: results from before" in refused("earlier", "new.xlsx", "--yes")
    assert data(folder).y.tolist() == [20]


def test_without_a_site_a_table_can_be_looked_at_with_the_study(folder):
    shown = call("earlier", "old.csv", "--study", "study.toml", "--column", "SD=ignore", "--answer", "empty=drop")
    assert "2 rows are taken; 2 left out." in shown.stdout and "Nothing was kept" in shown.stderr
    assert [path.name for path in folder.iterdir() if "site" in path.name] == []


def test_an_export_is_data_for_another_study(folder):
    call(*JOIN, "--initial", 3)
    site = cboc.join(storage="site.db")
    for number in range(3):
        site.tell(site.ask(), float(number))
    site.fail(site.ask(), "the pump stopped")
    call("export", "--output", "mine.xlsx")
    call(*JOIN, "--data", "mine.xlsx", "--file", "next.db", "--yes")
    again = cboc.join(storage=folder / "next.db").data
    assert again.y.tolist() == [0, 1, 2] and len(again.failures) == 1
