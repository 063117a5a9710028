"""What is said below the pictures of what was learned, and below paths; the sentences are those of the site's page."""

from __future__ import annotations

from cboc.cli.view import View

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
    return _joined(
        "One parameter varies, the others stay as in the best design. The line is the expected outcome; 95 of 100 "
        "outcomes are expected in the band.",
        bound if view.learned.is_bound else "",
        f"{FAINT}; failed ones lie at the bottom." if len(view.site.dataset.failures) else f"{FAINT}.",
        view.next,
        view.source,
    )


def contours(view: View) -> str:
    """Below contours."""
    drawn = view.learned.contours()
    assert drawn is not None  # or the picture is left out
    others = len(view.learned.importance.shares) > 2
    stay = ", the others stay as in the best design" if others else ""
    what = f"{' and '.join(drawn.names)} vary{stay}. Brighter is better."
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
        f"Contours: {' or '.join(sources)}, the best white." if sources else "",
        which if sources and count > 2 else "",
        f"No contours where there is too little to learn from: {', '.join(bare)}." if bare and count > 1 else "",
    )


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
