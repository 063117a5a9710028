"""HTML from Python: an element is a call, and anything that is not already HTML is escaped."""

from __future__ import annotations

from html import escape

VOID = ("img", "meta", "link", "br")


class Html(str):
    """Text that is markup. Only this file turns plain text into it."""

    __slots__ = ()


def element(tag: str, *children: object, **attributes: str) -> Html:
    """Write an element: `element("p", "a < b", class_="note")`. A last underscore is dropped, others are hyphens."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value, quote=True)}"' for name, value in attributes.items()
    )
    if tag in VOID:
        return Html(f"<{tag}{given}>")
    return Html(f"<{tag}{given}>{together(*children)}</{tag}>")


def together(*children: object) -> Html:
    """Join pieces, one after the other."""
    return Html("".join(child if isinstance(child, Html) else escape(str(child)) for child in children))


def verbatim(tag: str, content: str, **attributes: str) -> Html:
    """Write an element such as a style sheet, whose content is not escaped and so must not end the element."""
    if "</" in content:
        raise ValueError(f"the content of a {tag} may not hold an end tag")
    return Html(str(element(tag, **attributes)).replace("></", f">{content}</", 1))
