"""A page as somebody sees it: opened from the disk in Chromium, looked at, clicked, and listened to."""

import os
import time
from pathlib import Path

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE, DESK = (390, 844), (1280, 900)
GRAVE = ("serious", "critical")
"""What axe-core may not find."""

PATIENCE = 60
"""Seconds until something must have happened."""
SETTLED = 3
"""Seconds until a page must have taken its shape."""
SEEN = """selector => {
  const box = document.querySelector(selector).getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth && box.height > 0;
}"""
OUTSIDE = """() => {
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= room) return [];
  const scrolls = (one) => one && (getComputedStyle(one).overflowX !== "visible" || scrolls(one.parentElement));
  const found = [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > room + 1 && !scrolls(one.parentElement));
  return [document.body, ...found].map((one) => one.outerHTML.slice(0, 120));
}"""


class Visit:
    """An open page. `page` is playwright's; `faults` fills with what went wrong since it was opened."""

    def __init__(self, page, file, query=""):
        self.page, self.address, self.faults = page, Path(file).resolve().as_uri(), []
        page.on("console", lambda said: self._hear(said.type, said.text))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", lambda request: self._ask(request.url))
        page.on("dialog", self._open)
        page.goto(self.address + query)

    def _hear(self, kind, text):
        if kind in ("error", "warning"):
            self.faults.append(f"{kind}: {text}")

    def _ask(self, url):
        if url.partition("#")[0] != self.address and not url.startswith(("data:", "blob:")):
            self.faults.append(f"asked for {url}")

    def _open(self, dialog):
        self.faults.append(f"{dialog.type}: {dialog.message}")
        dialog.dismiss()

    def size(self, size):
        """Give the window `(width, height)`."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})

    def wide(self):
        """The body of a page that scrolls sideways, and what sticks out of it; figures need a moment to follow the
        window, and what scrolls in itself may be wide."""
        until = time.monotonic() + SETTLED
        while (found := self.page.evaluate(OUTSIDE)) and time.monotonic() < until:
            self.page.wait_for_timeout(50)
        return found

    def barriers(self):
        """What axe-core finds serious or critical, with the first elements that have it."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(Path(os.environ["LONGSEQ_AXE"]).read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            f"{one['impact']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
            for one in found
            if one["impact"] in GRAVE
        ]

    def seen(self, selector):
        """Whether the first element of that kind lies in the window, at least in part."""
        return self.page.evaluate(SEEN, selector)

    def comes(self, selector):
        """Wait until it does."""
        self.page.wait_for_function(SEEN, arg=selector)

    def turns(self, read, before):
        """Wait until `read()` gives something else than before."""
        until = time.monotonic() + PATIENCE
        while read() == before:
            assert time.monotonic() < until, f"still {before!r:.200}"
            self.page.wait_for_timeout(20)

    def focused(self):
        """What the keyboard is at: `a "its text"`, `button "its name"`; "" where it is at nothing."""
        return self.page.evaluate("""() => {
          const one = document.activeElement;
          if (!one || one === document.body) return "";
          const name = one.getAttribute("aria-label") || one.innerText || "";
          return `${one.localName} "${name.trim().replace(/\\s+/g, " ").slice(0, 60)}"`;
        }""")

    def tab_to(self, selector, most=60):
        """Press Tab until an element of that kind has the focus."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"no {selector} within {most} steps of Tab")

    def shot(self, name, whole=True):
        """A picture in the folder that LONGSEQ_SHOTS names, if one is named: for eyes, nothing is compared."""
        if folder := os.environ.get("LONGSEQ_SHOTS"):
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=whole)
