"""What people call a column: names without case and marks, units, and other names for the same.

plain("Std. Err.")               "std err"
split_unit("temperature / °C")   ("temperature", "°C")
meaning("SEM of yield")          Meaning.SEM
"""

from __future__ import annotations

import re
from enum import StrEnum
from unicodedata import normalize

MARKS = re.compile(r"[\s_.,:;*'\"()\[\]-]+")
BRACKETED = re.compile(r"(?P<name>.*\S)\s*(?:\((?P<round>[^()]*)\)|\[(?P<square>[^\[\]]*)\])")
AFTER_A_MARK = re.compile(r"(?P<name>.*?\S)(?:\s*/\s*|\s*,\s+|\s+in\s+)(?P<unit>\S.*)")
LITRE = re.compile(r"(?<![A-Za-z])([munpdc]?)l(?![A-Za-z])")
SAME_UNIT = {
    **dict.fromkeys(("c", "degc", "deg c", "° c", "oc", "celsius", "grad"), "°C"),
    **dict.fromkeys(("f", "degf", "deg f", "° f", "fahrenheit"), "°F"),
    **dict.fromkeys(("kelvin", "°k"), "K"),
    **dict.fromkeys(("percent", "per cent", "pct", "prozent"), "%"),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "std"), "h"),
    **dict.fromkeys(("minute", "minutes", "mins"), "min"),
    **dict.fromkeys(("second", "seconds", "sec"), "s"),
    **dict.fromkeys(("-", "–", "1"), ""),
}  # by the unit as people write it


class Meaning(StrEnum):
    """What a column may hold beside a parameter."""

    OUTCOME = "outcome"
    SEM = "standard error"
    STATUS = "status"
    SD = "standard deviation"
    SPREAD = "spread"  # an error, an uncertainty: of which kind, nobody knows
    COST = "cost"
    REMARK = "remark"
    TIME = "time"
    WELL = "well"
    NUMBER = "number of an experiment"


WORDS: dict[Meaning, tuple[str, ...]] = {
    Meaning.SEM: ("sem", "s e m", "stderr", "std err", "std error", "se", "standard error", "standardfehler"),
    Meaning.SD: (
        "sd", "s d", "std", "stdev", "stddev", "std dev", "st dev", "stdabw", "stabw", "sigma", "σ",
        "standard deviation", "standardabweichung",
    ),
    Meaning.SPREAD: (
        "±", "+/", "error", "errors", "err", "uncertainty", "unc", "variance", "var", "rsd", "cv", "ci", "confidence",
        "fehler", "unsicherheit", "abweichung", "spread",
    ),
    Meaning.STATUS: ("status", "state", "failed", "success", "valid"),
    Meaning.COST: ("cost", "costs", "price", "kosten", "preis"),
    Meaning.REMARK: (
        "remark", "remarks", "note", "notes", "comment", "comments", "observation", "observations", "bemerkung",
        "bemerkungen", "kommentar", "notiz", "notizen", "decision",
    ),
    Meaning.TIME: (
        "date", "time", "datum", "zeit", "uhrzeit", "timestamp", "begun", "told", "day", "started", "ended",
    ),
    Meaning.WELL: ("well", "position", "vial", "tube"),
    Meaning.NUMBER: (
        "trial", "run", "nr", "no", "number", "id", "experiment", "exp", "entry", "index", "sample", "batch", "lot",
        "run no", "run nr", "run number", "run id", "exp no", "exp nr", "sample id", "sample no", "experiment id",
        "experiment no", "#", "№", "rep", "replicate", "repeat", "probe",
        "versuch", "versuch nr", "lfd nr", "unnamed 0",
    ),
    Meaning.OUTCOME: (
        "y", "outcome", "result", "results", "response", "objective", "target", "value", "yield", "measured",
        "measurement", "score", "signal", "ausbeute", "ergebnis", "messwert", "zielgröße",
    ),
}  # fmt: skip
IN_A_NAME = (Meaning.SEM, Meaning.SD, Meaning.SPREAD, Meaning.STATUS)  # that are never ignored in silence
LINKS = {"of", "the", "in", "for", "mean"}  # words that say nothing by themselves


def plain(name: str) -> str:
    """A name without case, marks and repeated blanks: 'Std. Err.' is 'std err'."""
    return MARKS.sub(" ", normalize("NFKC", name).casefold()).strip()


def split_unit(header: str) -> tuple[str, str]:
    """The name and the unit of a header: of temperature (°C), temperature [°C], temperature / °C."""
    written = header.strip()
    if match := BRACKETED.fullmatch(written):
        return match["name"].rstrip(" /,"), (match["round"] or match["square"] or "").strip()
    if match := AFTER_A_MARK.fullmatch(written):
        return match["name"], match["unit"].strip()
    return written, ""


def plain_unit(unit: str) -> str:
    """A unit as it is compared: 'deg C' is '°C' and 'µl' is 'uL', but 'mM' is not 'mm'."""
    written = normalize("NFKC", unit.replace("º", "°")).replace("\N{GREEK SMALL LETTER MU}", "u")
    written = " ".join(written.strip(" []()").split())
    return SAME_UNIT.get(written.casefold(), LITRE.sub(r"\1L", written))


def meaning(header: str) -> Meaning | None:
    """What a header means by the words that people use: all of it, or a word in it that is not to be overlooked."""
    names = (plain(split_unit(header)[0]), plain(header), plain(header).removesuffix(" of the trial"))
    whole = next((kind for kind, words in WORDS.items() if any(name in words for name in names)), None)
    return whole or next((kind for kind in IN_A_NAME if _words_in(plain(header), kind)), None)


def rest(header: str, kind: Meaning) -> set[str]:
    """The words of a header that say something else than that it is of this kind: {'yield'} for 'SEM of yield'."""
    text = f" {plain(header)} "
    for word in sorted(WORDS[kind], key=len, reverse=True):
        text = text.replace(f" {word} ", " ")
    return set(text.split()) - LINKS


def _words_in(text: str, kind: Meaning) -> bool:
    """Whether a text has such a word or phrase of its own: 'sem of yield' has 'sem', 'assembly' has not."""
    return any(f" {word} " in f" {text} " for word in WORDS[kind])
