"""HTML from Python: an element is a call, and whatever is not HTML already is escaped."""

from __future__ import annotations

from html import escape

VOID = ("img", "meta", "link", "br")


class Html(str):
    """Text that is markup. Only this file makes it out of text that is not."""

    __slots__ = ()


def element(tag: str, *children: object, **attributes: str) -> Html:
    """`element("p", "a < b", class_="note")`; an underscore at the end of a name is dropped, others are hyphens."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value, quote=True)}"' for name, value in attributes.items()
    )
    if tag in VOID:
        return Html(f"<{tag}{given}>")
    return Html(f"<{tag}{given}>{together(*children)}</{tag}>")


def together(*children: object) -> Html:
    """One after the other."""
    return Html("".join(child if isinstance(child, Html) else escape(str(child)) for child in children))


def verbatim(tag: str, content: str, **attributes: str) -> Html:
    """A style sheet, which is not escaped inside of its element, and so must not end it."""
    if "</" in content:
        raise ValueError(f"the content of a {tag} may not hold an end tag")
    return Html(str(element(tag, **attributes)).replace("></", f">{content}</", 1))
