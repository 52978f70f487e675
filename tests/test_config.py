"""Values of a configuration: what is taken, what is refused, and in which words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest

from longseq.config import from_mapping, load, to_toml
from longseq.errors import ConfigError, alike, meant


@dataclass(frozen=True, kw_only=True)
class Inner:
    width: int = 4
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outer:
    rate: float = 0.5
    limit: float | None = None
    on: bool = False
    text: str = ""
    level: Literal[1, 2] = 1
    inner: Inner = field(default_factory=Inner)


@pytest.mark.parametrize(
    ("assignment", "path", "value"),
    [
        ("rate=2", "rate", 2.0),
        ("limit=1e3", "limit", 1000.0),
        ("on=true", "on", True),
        ("text=word", "text", "word"),
        ('text="5"', "text", "5"),
        ("text=a=b", "text", "a=b"),
        ("text=1\nlevel=2", "text", "1\nlevel=2"),
        ("level=2", "level", 2),
        ("inner.width = 9", "inner.width", 9),
        ('inner.names=["a", "b"]', "inner.names", ("a", "b")),
    ],
)
def test_a_value(assignment, path, value):
    found = load(Outer, None, [assignment])
    for name in path.split("."):
        found = getattr(found, name)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("inner.width=true", "inner.width: expected a whole number, found True"),
        ("inner.width=1.0", "inner.width: expected a whole number, found 1.0"),
        ("rate=true", "rate: expected a number, found True"),
        ("limit=x", "limit: expected a number, found 'x'"),
        ("on=1", "on: expected true or false, found 1"),
        ("text=5", "text: expected a string, found 5"),
        ("level=true", "level: expected one of 1, 2, found True"),
        ("level=3", "level: expected one of 1, 2, found 3"),
        ("inner=3", "inner: expected a table, found 3"),
        ("inner.names=a", """inner.names: expected a list, such as ["a", "b"], found 'a'"""),
        ("inner.names=[1]", "inner.names[0]: expected a string, found 1"),
        ("width=1", "width: unknown key; did you mean inner.width? known: rate, limit, on, text, level, inner"),
        ("inner.widht=1", "inner.widht: unknown key; did you mean inner.width? known: width, names"),
        (
            "inner.width=9223372036854775808",
            "inner.width: expected a whole number of at most 64 bits, found 9223372036854775808",
        ),
        (f"rate={'9' * 400}", f"rate: expected a number of at most 64 bits, found {'9' * 200}… (400 characters)"),
        (
            f"inner.width=0x{'f' * 5000}",
            "inner.width: expected a whole number of at most 64 bits, found a number too long to be shown",
        ),
        (f"level=0x{'f' * 5000}", "level: expected one of 1, 2, found a number too long to be shown"),
        ("rate=inf", "rate: expected a finite number, found inf"),
        ("limit=nan", "limit: expected a finite number, found nan"),
        ("rate=1\non=false", "rate: expected a number, found '1\\non=false'"),
        (f"rate={'[' * 900}", f"rate: expected a number, found '{'[' * 199}… (902 characters)"),
        (f"inner{'.a' * 9000}=1", "inner.a: unknown key; did you mean inner.names? known: width, names"),
        ("text=\ud800", r"text: expected text, found '\ud800'"),
        ("rate", "--set rate: expected KEY=VALUE, found 'rate'"),
    ],
)
def test_a_value_that_is_refused(assignment, message):
    with pytest.raises(ConfigError) as caught:
        load(Outer, None, [assignment])
    assert str(caught.value) == message


def test_a_key_that_has_to_be_there():
    @dataclass(frozen=True, kw_only=True)
    class Needed:
        width: int
        names: tuple[str, ...] = ()

    with pytest.raises(ConfigError, match=r"^inner\.width: expected a value, found none$"):
        from_mapping(Needed, {"names": ["a"]}, "inner.")


def test_a_tree_that_is_no_table():
    with pytest.raises(ConfigError, match=r"^inner: expected a table, found \[1\]$"):
        from_mapping(Inner, [1], "inner.")


def test_a_file_comes_back(tmp_path):
    config = Outer(rate=0.1 + 0.2, text='a"\\\n\x7fé', inner=Inner(names=("x", "y")))
    file = tmp_path / "a.toml"
    file.write_text(to_toml(config), encoding="utf-8")
    assert load(Outer, file) == config


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        load(Outer, tmp_path / "missing.toml")
    (tmp_path / "a.toml").write_bytes(b"= \xff")
    with pytest.raises(ConfigError, match="expected TOML"):
        load(Outer, tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate = " + "[" * 5000, "it is nested too deep"),
        ("rate = " + "9" * 5000, "4300 digits"),
        ("a" + ".a" * 20_000 + " = 1", "a key of 32 parts or more"),  # the square of its length: a minute
        ("a = 1\n" * 200_000, "more than 1,048,576 bytes"),
    ],
)
def test_a_file_that_would_take_for_ever(tmp_path, text, message):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load(Outer, tmp_path / "a.toml")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 1000


def test_many_inputs_in_a_line_are_no_long_key(tmp_path):
    names = [f"a.b.c.d.e/{i}.fa.gz" for i in range(200)]
    (tmp_path / "a.toml").write_text(f"text = 'x'\n[inner]\nnames = {names}\n")
    assert load(Outer, tmp_path / "a.toml").inner.names == tuple(names)


@pytest.mark.parametrize(
    ("name", "near"),
    [("widht", ["width"]), ("Width", ["width"]), ("elu", ["elu+1", "relu"]), ("w", []), ("", []), ("zzz", [])],
)
def test_a_name_that_may_have_been_meant(name, near):
    assert alike(name, ["relu", "elu+1", "width"], most=2) == near
    assert meant(name, ["relu", "elu+1", "width"]) == (f"did you mean {near[0]}?" if near else None)
