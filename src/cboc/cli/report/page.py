"""The frame of a report, and the parts of its sections: tables, facts, pictures.

The page loads nothing: style and pictures are in it, there is no script, and its policy forbids the rest.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

from cboc.cli.report.html import Html, element, together, verbatim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 160
NUMERIC = "+-−0123456789"
LONG = 40  # characters of a cell, from which the lines of its column break
PRINTED = """
main { max-width: 62rem; }
section { margin-bottom: 1rem; }
figure + figure, .scroll + figure, figure + .scroll, .facts + p, .facts + .scroll { margin-top: 1.25rem; }
figure img { display: block; width: 100%; min-width: 38rem; height: auto; background: #fff; border-radius: 6px; }
figcaption { color: var(--quiet); font-size: .9rem; margin-top: .4rem; }
.scroll + .note { margin-top: .6rem; }
tbody td { white-space: nowrap; }
tbody td.long { white-space: normal; min-width: 17rem; }
h2 .pill { margin-left: .5rem; font-weight: 500; }
@media print {
  tbody td.long { min-width: 11rem; }
  figure img { min-width: 0; max-height: 80vh; object-fit: contain; }
}
"""


def page(title: str, lead: str, sections: Sequence[Html]) -> str:
    """Return the whole document."""
    style = files("cboc.web").joinpath("static", "style.css").read_text(encoding="utf-8") + PRINTED
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        verbatim("style", style),
    )
    body = element("body", element("main", element("h1", title), element("p", lead), *sections))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def section(title: str, *children: Html, label: str = "") -> Html:
    """A card with its label beside its title."""
    pill = element("span", label, class_="pill wait") if label else ""
    return element("section", element("h2", title, pill), *children, class_="card")


def paragraph(text: object, **attributes: str) -> Html:
    return element("p", text, **attributes)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, is_numeric: bool = False) -> Html:
    """A table whose first column is names. Right-aligned are all other columns, or those that look like numbers.

    In columns of sentences the lines break.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    is_long = [max((len(row[k]) for row in cells), default=0) > LONG for k in range(len(columns))]
    is_number = [
        k > 0 and not is_long[k] and (is_numeric or any(row[k] and row[k][0] in NUMERIC for row in cells))
        for k in range(len(columns))
    ]

    def line(tags: Sequence[str], texts: Sequence[str]) -> Html:
        kinds = zip(is_number, is_long, strict=True)
        looks = [{"class_": "number"} if number else {"class_": "long"} if long else {} for number, long in kinds]
        return element("tr", *(element(*pair, **look) for *pair, look in zip(tags, texts, looks, strict=True)))

    head = element("thead", line(["th"] * len(columns), columns))
    body = element("tbody", *(line(["th", *["td"] * (len(columns) - 1)], row) for row in cells))
    return element("div", element("table", head, body), class_="scroll", tabindex="0")


def facts(values: Mapping[str, object]) -> Html:
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in values.items())
    return element("dl", *pairs, class_="facts plain")


def picture(figure: Figure, alt: str, caption: str = "") -> Html:
    """A figure inside the page; on a phone it scrolls in its own frame and stays legible."""
    file = BytesIO()
    figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
    address = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
    image = element("div", element("img", src=address, alt=alt), class_="scroll", tabindex="0")
    return element("figure", image, element("figcaption", caption) if caption else together())
