"""Conversion of what version 0.1.0 wrote to today's form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECISIONS = {"solo": "unreachable", "alone": "contradicted"}
INITIAL = 5  # experiments per parameter that a site began with, unless it said otherwise
LEFT_OUT: tuple[Any, ...] = (None, "", [], {})


def trial_from_1(old: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the row of a trial, which was flat."""
    row = {name: old[name] for name in ("site", "number", "status", "proposed", "executed", "note") if name in old}
    if "decision" in old:
        row["decision"] = DECISIONS.get(old["decision"], old["decision"])
    if "y" in old:
        row["outcomes"] = {"y": {"mean": old["y"], "sem": old.get("sem")}}
    if "round" in old:
        row["turn"] = _turn(old)
    return row


def _turn(old: Mapping[str, Any]) -> dict[str, Any]:
    """The turn of a trial; the round was also the site's turn."""
    note = {
        "log_worth": old.get("log_worth", 0.0),
        "pull": old.get("pull", 0.0),
        "stance": _stance(old),
        "keeps": old.get("keeps", 0.0),
        "reason": old.get("reason", ""),
        "log_odds": old.get("evidence"),
        "consistency": old.get("agreement"),
        "memory": old.get("warm_start"),
    }
    turn = {"number": old["round"], "note": {name: value for name, value in note.items() if value not in LEFT_OUT}}
    if "best" in old:
        turn["bests"] = [old["best"]]
    if "agreed" in old:
        turn["answer"] = {
            "mix": old["agreed"],
            "weights": old["weights"],
            "snapshot": old["round"],
            "leader": old.get("leader"),
            "others": old.get("others", []),
            "verdict": {"follows": old["decision"] == "followed", "log_worth": old.get("log_worth_agreed", 0.0)},
        }
    return turn


def _stance(old: Mapping[str, Any]) -> str | None:
    """The stance: a site that was not alone kept its pull, and one in doubt the share that a mix had to keep."""
    if "best" not in old:
        return None
    if "pull" not in old:
        return "alone"
    return "in doubt" if "keeps" in old else "together"


def settings_from_1(about: Mapping[str, Any]) -> dict[str, Any]:
    """Convert what a site's file says about the site."""
    news = {name: value for name, value in about.items() if name not in ("initial", "seed")}
    news["policy"] = {"initial": _initial(about), "seed": about.get("seed", 0), "goes_on_alone": True}
    if "data" in about:
        sem = [None if error != error else error for error in about["data"]["sem"]]  # NaN is not JSON
        news["data"] = {**about["data"], "sem": sem}
    return news


def _initial(about: Mapping[str, Any]) -> int | None:
    """How many experiments a site begins with; None if that is not settled, before it has joined."""
    if about.get("initial") is not None or "agreement" not in about:
        return about.get("initial")
    return INITIAL * len(about["agreement"]["space"]["parameters"])
