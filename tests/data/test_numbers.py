"""A number that somebody wrote by hand: one reader for the form of the page, the command line and the sheet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc import CbocError, Ledger, Measurement, Policy, Site, Space, Study
from cboc.data.dataset import Dataset
from cboc.data.numbers import GROUPED, have_decimal_commas, pointed, read_number, written
from cboc.site import worksheet
from cboc.sitepage.form import read_entry

SPACE = Space({"a": (0.0, 10.0)})


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.25", 0.25), (" 0,25 ", 0.25), ("-3", -3.0), ("\N{MINUS SIGN}3,5", -3.5), (",5", 0.5), ("1,2345", 1.2345),
     ("0,123", 0.123), ("1,234e2", 123.4), ("1234,567", 1234.567), ("1e-6", 1e-6), ("+2.", 2.0),
     ("0e-999", 0.0), ("-0.00", 0.0)],
)  # fmt: skip
def test_numbers(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize("text", ["0.83", "-3", "1234567", "-76.026748", "123456.789", "1e-07", "2.5e+12", "0"])
def test_an_outcome_is_written_as_it_was_typed(text):
    assert written(float(text)) == text and str(Measurement(float(text))) == text


@pytest.mark.parametrize(
    "text", ["", "much", "1_000", "nan", "inf", "1e999", "1.234,5", "1,234,567", "1 000", "٣", "1e-400", "-0.02e-999"]
)
def test_no_numbers(text):
    assert read_number(text) is None


@pytest.mark.parametrize("text", ["1,234", "-12,345", "999,000", "\N{MINUS SIGN}1,234"])
def test_what_may_be_a_thousand_times_as_much_is_refused(text):
    with pytest.raises(CbocError, match="may mean thousands or decimals; write -?[0-9]+ or -?[0-9]+.[0-9]{3}.$"):
        read_number(text)


@given(y=st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_comes_back(y):
    for text in (repr(y), repr(y).replace(".", ","), f" {y!r} "):
        if not GROUPED.fullmatch(text):
            assert read_number(text) == y


@pytest.mark.parametrize("text", ["water", "a, b", "1,5 and more", "\N{MINUS SIGN} none"])
def test_other_words_stay_as_they_are(text):
    assert pointed(text) == text


def test_a_file_shows_how_it_writes_decimals():
    assert have_decimal_commas(["0,25", "1,234", "7", "water"])
    assert not have_decimal_commas(["1,234", "7"])  # nothing shows it
    assert not have_decimal_commas(["0,25", "0.5", "1,234"])  # it is not of one mind
    assert not have_decimal_commas(["0.25"])


def site():
    site = Site(
        Study(SPACE, ["x"], 3), "x", Ledger(Study(SPACE, ["x"], 3)), direction="maximise", policy=Policy(initial=3)
    )
    site.ask()
    return site


@pytest.mark.parametrize("text", ["1,234", "-1,234"])
def test_the_page_and_the_sheet_and_the_data_refuse_it_alike(text, tmp_path):
    with pytest.raises(CbocError, match="the outcome: .* may mean thousands"):
        read_entry({"y": text}, SPACE, {"a": 5.0})
    with pytest.raises(CbocError, match="the standard error: .* may mean thousands"):
        read_entry({"y": "1", "sem": "1,234"}, SPACE, {"a": 5.0})
    with pytest.raises(CbocError, match="a: '1,234' may mean thousands"):
        read_entry({"y": "1", "other": "yes", "ran.a": "1,234"}, SPACE, {"a": 5.0})
    sheet = tmp_path / "sheet.csv"
    for content in (f"trial;a;y\n0;5;{text}\n", f'trial,a,y\n0,5,"{text}"\n', f"trial;a;y\n0;5.5;{text}\n"):
        sheet.write_text(content)
        with pytest.raises(CbocError, match="line 2, column y: .* may mean thousands"):
            worksheet.read(sheet, SPACE)


def test_in_a_sheet_that_shows_decimal_commas_it_is_one(tmp_path):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("trial;a;y\n0;5,5;1,234\n")
    assert [entry.measured for entry in worksheet.read(sheet, SPACE)] == [Measurement(1.234)]
    sheet.write_text("a;y\n5;1,234\n6;0,5\n")
    assert Dataset.from_csv(sheet, SPACE, direction="maximise").y.tolist() == [1.234, 0.5]


def test_what_a_choice_is_called_is_no_number(tmp_path):
    space = Space({"kit": {"options": ["1,234", "B"]}, "a": (0.0, 10.0)})
    (tmp_path / "sheet.csv").write_text('trial,kit,a,y\n0,"1,234",5,1\n')
    assert worksheet.read(tmp_path / "sheet.csv", space)[0].design["kit"] == "1,234"
