"""The parts of a guide that can be tried: code blocks, the output that stands below them, links."""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"\d[\d.,]*(?: [kM](?= ))?")
CODE = re.compile(r"\s*# ends with (\d+)\b.*$")


@dataclass
class Block:
    """Code of a language, and what a reader is told that it prints: runs of lines, each line with … for anything."""

    language: str
    code: str
    says: list[str] = field(default_factory=list)


def blocks(text):
    """Those of sh and python, each with the block of text that stands below it."""
    found = []
    for language, body in BLOCK.findall(text):
        if language == "text":
            found[-1].says.extend(body.splitlines())
        elif language in ("sh", "python"):
            found.append(Block(language, body))
    return found


def commands(code):
    """Lines as a shell reads them: one that ends with a backslash goes on."""
    return re.sub(r"\\\n\s*", "", code).splitlines()


def script(code, shorter):
    """A shell's script of the block: every command has to end well, or as a comment `# ends with N` says.

    `shorter`: patterns, and what becomes of what they find in a line.
    """
    lines = ["set -euo pipefail"]
    for line in commands(code):
        for pattern, less in shorter.items():
            line = re.sub(pattern, less, line)
        if ending := CODE.search(line):
            line = f"code=0; {line[: ending.start()]} || code=$?; test $code = {ending[1]}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def missing(says, output, figures=True):
    """The first line that is not in the output, in the order of both; None if all are.

    `figures`: numbers are the same, not only in the same places.
    """
    lines, at = [FIGURE.sub("0", line) if not figures else line for line in output.splitlines()], 0
    for line in filter(str.strip, says):
        wanted = line if figures else FIGURE.sub("0", line)
        pattern = re.compile(".*".join(map(re.escape, wanted.split("…"))))
        at = next((n + 1 for n in range(at, len(lines)) if pattern.fullmatch(lines[n].rstrip())), 0)
        if not at:
            return line
    return None


if __name__ == "__main__":
    guide, output = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
    shown = next(block.says for block in blocks(guide) if block.says)
    absent = missing(shown, output)
    sys.exit(absent and f"{sys.argv[1]} shows what was not said: {absent}")
