"""What is said below the pictures of what was learned, and below paths; the sentences are those of the site's page."""

from __future__ import annotations

from cboc.cli.show import many
from cboc.cli.view import View
from cboc.insight.found import found
from cboc.insight.prospect import percent

SHARES = (
    "Shares of the differences between outcomes over the whole space. What parameters do together counts for each of "
    "them."
)
LEFT_OUT = (
    "Each outcome is predicted from all others. Lines: where 95 of 100 outcomes are expected; they may reach beyond "
    "the picture."
)
FAINT = "Experiments are the fainter the less they tell about these designs"


def slices(view: View) -> str:
    """Below slices."""
    bound = "A constraint binds some parameters to each other: where one varies, the others move as little as it asks."
    has_failures = any(point.y is None for point in view.learned.points)
    return _joined(
        "One parameter varies, the others stay as in the best design. The line is the expected outcome; 95 of 100 "
        "outcomes are expected in the band.",
        bound if view.learned.is_bound else "",
        f"{FAINT}; failed ones lie at the bottom." if has_failures else f"{FAINT}.",
        view.next,
        view.source,
    )


def front(view: View) -> str:
    """Below the front: what it is, and what is expected of the next design."""
    site, results = view.site, found(view.site)
    count, broken = sum(each.is_on_front for each in results), sum(bool(each.broken) for each in results)
    several = len(site.goal.aims) > 2
    said = f"{count} of {many(len(results), 'result')} {'is' if count == 1 else 'are'} on the front: no other beats "
    said += "it." if count == 1 else "them."
    return _joined(
        said if count else "Every result so far breaks a limit, so nothing is on the front.",
        f"{many(broken, 'result')} {'breaks' if broken == 1 else 'break'} a limit." if broken and count else "",
        "On it by all objectives together; in a panel of two such a result may lie behind others." if several else "",
        _kept(view),
    )


def _kept(view: View) -> str:
    """How likely the next design keeps to the limits."""
    prospect = view.prospect
    if prospect is None:
        return ""
    number = view.site.to_run[0].number
    star = f"Star: the next design, trial {number}, with 95 % intervals." if prospect.expected else ""
    chances = [f"{limit}: {percent(chance)}" for limit, chance in prospect.chances.items()]
    return _joined(star, f"The chance that it keeps to {', '.join(chances)}." if chances else "")


def contours(view: View) -> str:
    """Below contours."""
    drawn = view.learned.contours()
    assert drawn is not None  # or the picture is left out
    others = len(view.learned.importance.shares) > 2
    stay = ", the others stay as in the best design" if others else ""
    bright = "better" if view.learned.is_ranked else "more"
    what = f"{' and '.join(drawn.names)} vary{stay}. Brighter is {bright}."
    is_told = view.learned.importance.is_told
    matter = "These two matter most." if is_told else "These two seem to matter most; that may change."
    return _joined(what, matter if others else "", f"{FAINT}.", view.next, view.source)


def importance(view: View) -> str:
    """Below the bars: what they say in a sentence."""
    return _joined(view.learned.importance.sentence, SHARES, view.source)


def predicted(view: View) -> str:
    """Below predicted against measured: how good the predictions are."""
    return _joined(view.learned.predicted.sentence, LEFT_OUT, view.source)


def paths(view: View) -> str:
    """Below paths: what the marks are, and where the contours are from."""
    sources = sorted({ground.source for ground in view.grounds.values()})
    bare = [site for site in view.sites if site not in view.grounds]
    count = len(view.course.study.space.names)
    which = (
        f"Of {count} parameters the two that matter most by each site's own surrogate, the others as in its best "
        "design; below them, every parameter against experiments."
    )
    return _joined(
        "Plus: the initial designs, i1, i2, ... in order. Numbers: experiments after them; lines lead from each to the "
        "next.",
        f"Contours{_of_which(view)}: {' or '.join(sources)}, the best white." if sources else "",
        which if sources and count > 2 else "",
        f"No contours where there is too little to learn from: {', '.join(bare)}." if bare and count > 1 else "",
    )


def _of_which(view: View) -> str:
    """Of which outcome contours are, if there are several."""
    names = view.site.goal.measured
    return "" if len(names) == 1 else f" of {view.outcome or names[0]}"


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
