"""A page of HTML that stands alone: no script, no network, readable in light and in the dark, safe against its text.

Whatever is put into an element is escaped, unless it is an element itself.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_EMPTY = ("br", "hr", "img", "meta")

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #5c5c5c; --paper: #fdfdfb; --line: #d8d8d2;
  --mark: #fff0a8; --link: #1a4f8b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e4e0; --soft: #a0a09a; --paper: #191a1c; --line: #3a3b3e;
  --mark: #5a4a00; --link: #8ab8f0; } }
body { margin: 0 auto; max-width: 46em; padding: 1.5em 1em 4em; background: var(--paper); color: var(--ink);
  font: 16px/1.55 Georgia, "Noto Serif", serif; overflow-wrap: anywhere; }
h1, h2, nav, .facts, .place, footer, table { font-family: system-ui, "Noto Sans", sans-serif; }
h1 { font-size: 1.5em; line-height: 1.25; margin: 1.6em 0 .4em; }
h2 { font-size: 1.1em; margin: 2em 0 .6em; }
a { color: var(--link); }
mark { background: var(--mark); color: inherit; }
mark:target, li:target { outline: 2px solid var(--link); outline-offset: 2px; }
pre { overflow-x: auto; font-size: .85em; line-height: 1.4; }
table { border-collapse: collapse; font-size: .85em; } td, th { border: 1px solid var(--line); padding: .2em .6em; }
.facts, .place, footer { color: var(--soft); font-size: .82em; }
.text { white-space: pre-line; unicode-bidi: isolate; }
mark, bdi { unicode-bidi: isolate; }
section { border-top: 1px solid var(--line); } section:first-of-type { border-top: 0; }
@media print { body { max-width: none; } mark { background: none; text-decoration: underline; } }
"""
"""Of every page."""


class Markup(str):
    """HTML as it stands."""


def element(name: str, /, *content: object, **attributes: object) -> Markup:
    """`<name>content</name>`; text is escaped. Attributes that are None are left out; `http_equiv` is `http-equiv`,
    `class_` is `class`."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(map(escaped, content))
    return Markup(f"<{name}{given}>" if name in _EMPTY else f"<{name}{given}>{inside}</{name}>")


def escaped(value: object) -> Markup:
    """Text as HTML that shows its letters; control characters, which HTML forbids, as U+FFFD."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(_CONTROLS.sub("\ufffd", str(value)), quote=True))


def page(title: str, body: Iterable[str], style: str = "") -> Iterable[str]:
    """The whole page in pieces: `body` is markup, `style` what the page needs besides `STYLE`."""
    yield "<!DOCTYPE html>\n<html>\n<head>\n"
    yield element("meta", charset="utf-8") + "\n"
    # no browser runs or fetches anything, whatever an escape may have missed
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    yield (element("meta", http_equiv="Content-Security-Policy", content=policy) + "\n")
    yield element("meta", name="viewport", content="width=device-width, initial-scale=1") + "\n"
    yield element("title", title) + "\n"
    yield element("style", Markup(STYLE + style)) + "\n</head>\n<body>\n"
    yield from body
    yield "</body>\n</html>\n"
