"""A page of HTML that stands alone: no network, light and dark, on paper and on a telephone, safe against its text.

Whatever is put into an element is escaped, unless it is an element itself. The only scripts that run are our own: the
page names them by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FIGURE = re.compile(r"[-+−]?[\d.,]+(e[-+]?\d+)?|NA")
_EMPTY = ("br", "col", "hr", "img", "input", "meta")
_HERE = Path(__file__).parent


class Markup(str):
    """HTML as it stands."""


def element(name: str, /, *content: object, **attributes: object) -> Markup:
    """`<name>content</name>`; text is escaped. Attributes that are None or False are left out, one that is True stands
    alone; `http_equiv` is `http-equiv`, `class_` is `class`."""
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escaped(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    inside = "".join(map(escaped, content))
    return Markup(f"<{name}{given}>" if name in _EMPTY else f"<{name}{given}>{inside}</{name}>")


def escaped(value: object) -> Markup:
    """Text as HTML that shows its letters; control characters, which HTML forbids, as U+FFFD."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(_CONTROLS.sub("\ufffd", str(value)), quote=True))


def data(value: object, **attributes: object) -> Markup:
    """Plain values for the page's scripts, in an element that no browser runs and no text in it can end."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    safe = re.sub("[\ud800-\udfff]", "\ufffd", safe)  # a file's name may hold what UTF-8 cannot spell
    return element("script", Markup(safe), type="application/json", **attributes)


def table(head: Sequence[object], rows: Iterable[Sequence[object]], name: str = "Table") -> Markup:
    """A table that scrolls by itself where it is wider than the page; its `name` is for who cannot see it."""
    top = element("tr", *(element("th", cell, scope="col") for cell in head))
    body = (Markup(f"\n{element('tr', *map(_cell, row))}") for row in rows)
    return _scrolled(element("table", element("thead", top), element("tbody", *body)), name)


def named_facts(rows: Iterable[tuple[object, object]], name: str) -> Markup:
    """Facts below one another, each after what it is called."""
    body = (Markup(f"\n{element('tr', element('th', key, scope='row'), element('td', value))}") for key, value in rows)
    return _scrolled(element("table", element("tbody", *body), class_="named"), name)


def page(
    title: str,
    body: Iterable[str],
    style: str = "",
    *,
    facts: Sequence[object] = (),
    contents: Sequence[tuple[str, str]] = (),
    scripts: Sequence[str] = (),
) -> Iterable[str]:
    """The whole page in pieces, its title as its only h1.

    Args:
        title: Of the page.
        body: Markup: sections, each with headings from h2 on.
        style: What the page needs besides the common style.
        facts: Below the title, a line each.
        contents: Places on the page, by id, and what they are called.
        scripts: JavaScript that runs when all is there, besides what switches light and dark.
    """
    ours = [_read("page.js"), *scripts]
    # a browser fetches nothing and runs nothing but these, whatever an escape may have missed
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    policy += "script-src " + " ".join(map(_digest, ours))
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n'
    yield element("meta", charset="utf-8") + "\n"
    yield element("meta", http_equiv="Content-Security-Policy", content=policy) + "\n"
    yield element("meta", name="viewport", content="width=device-width, initial-scale=1") + "\n"
    yield element("title", title) + "\n"
    yield element("style", Markup(_read("page.css") + style)) + "\n</head>\n<body>\n"
    yield element("a", "Skip to the content", href="#content", class_="skip") + "\n<header>\n"
    yield element("button", "Dark", type="button", id="theme", hidden=True) + "\n"
    yield element("h1", title, dir="auto") + "\n"
    yield from (element("p", line, class_="facts") + "\n" for line in facts)
    if contents:
        links = (element("li", element("a", name, href=f"#{place}", dir="auto")) for place, name in contents)
        yield element("nav", element("ul", *links), aria_label="Contents") + "\n"
    yield "</header>\n" + '<main id="content" tabindex="-1">\n'
    yield from body
    yield "</main>\n"
    yield from (element("script", Markup(script)) + "\n" for script in ours)
    yield "</body>\n</html>\n"


def _scrolled(whole: Markup, name: str) -> Markup:
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label=name)


def _cell(value: object) -> Markup:
    """A figure stands to the right."""
    return element("td", value, class_="figure" if _FIGURE.fullmatch(str(value)) else None)


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
