"""Text from bytes, whatever they are: the encoding told, what is no text counted, never a crash."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longseq.formats import read
from longseq.formats.encoding import SAMPLE

CHINESE = "海上的灯塔每天晚上都会点亮，因为守塔人住在那里已经三十年了。他从来没有离开过这个小岛。\n"
TRADITIONAL = "海上的燈塔每天晚上都會點亮，因為守塔人住在那裡已經三十年了。他從來沒有離開過這個小島。\n"
JAPANESE = "海の灯台は毎晩ともされる。守る人はもう三十年もそこに住んでいるのだ。\n"
KOREAN = "바다의 등대는 매일 밤 불을 밝힌다. 등대지기는 삼십 년 동안 그곳에 살았다.\n"
FRENCH = "Le phare était allumé chaque soir, à la tombée de la nuit, par un très vieux gardien : « Ça brûle ! »\n"
GERMAN = "Der Wärter zündete die Lampe – wie üblich – abends an; „schön“, sagte er, „größer geht's nicht“.\n"
RUSSIAN = "Маяк зажигали каждый вечер. Смотритель жил там тридцать лет и никогда не уезжал.\n"
GREEK = "Ο φάρος άναβε κάθε βράδυ. Ο φύλακας ζούσε εκεί τριάντα χρόνια.\n"


def whole(make, data: bytes, **options):
    (record,) = found = [(r, "".join(r.pieces)) for r in read(make("a.txt", data), **options)]
    assert len(found) == 1
    return record[1], record[0].notes


@pytest.mark.parametrize(
    ("text", "codec", "named"),
    [
        (CHINESE, "gb18030", "gb18030"),
        (CHINESE, "gbk", "gb18030"),
        (TRADITIONAL, "gb18030", "gb18030"),
        (TRADITIONAL, "big5", "big5"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (KOREAN, "euc_kr", "euc_kr"),
        (FRENCH, "latin-1", "cp1252"),
        (GERMAN, "cp1252", "cp1252"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (GREEK, "cp1253", "cp1253"),
        (CHINESE, "utf-8", "utf-8"),
        (FRENCH, "utf-8", "utf-8"),
        (FRENCH, "utf-16-le", "utf-16-le"),
        (FRENCH, "utf-16-be", "utf-16-be"),
    ],
)
@pytest.mark.parametrize("before", ["", "A title.\n\n", "Nothing but letters of ASCII. " * 3000])
@pytest.mark.parametrize("read_block", [7, 1 << 18])
def test_encodings_are_told(make, text, codec, named, before, read_block):
    if len(before) > 1000 and read_block == 7:
        read_block = 4099
    expected = before + text * 3
    got, notes = whole(make, expected.encode(codec), read_block=read_block)
    assert notes["encoding"] == named and "bad_bytes" not in notes and got == expected


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", [CHINESE, FRENCH, "😀 one"])
def test_a_mark_says_so(make, text, codec):
    got, notes = whole(make, text.encode(codec))
    assert got == text and notes["bom"] == len(text.encode(codec)) - len(
        text.encode(codec.replace("-sig", "") + "-le" * (codec[-1] in "62"))
    )
    assert codec.replace("-sig", "") in notes["encoding"]


@pytest.mark.parametrize("read_block", [1, 3, 1 << 18])
def test_bad_bytes_are_counted(make, read_block):
    data = "日本\nзаря\n".encode() + b"caf\xe9 \xff and more\n" + "�\n".encode() + b"\xe6\x97\n" + "日本".encode()[:-1]
    got, notes = whole(make, data, read_block=read_block)
    assert got == "日本\nзаря\ncaf� �� and more\n".replace("��", "�") + "�\n��\n日��"
    assert notes["bad_bytes"] == 6 and notes["encoding"] == "utf-8"


def test_a_dash_proves_a_text_beside_as_many_bad_bytes(make):
    got, notes = whole(make, "The bridge stands — firmly.\n".encode() + b"\xff\xfe\xe9 end\n")
    assert notes["encoding"] == "utf-8" and notes["bad_bytes"] == 3 and got.startswith("The bridge stands — firmly")


@pytest.mark.parametrize("codec", ["gb18030", "big5"])
def test_a_text_with_some_bad_bytes_keeps_its_encoding(make, codec):
    text = (CHINESE if codec == "gb18030" else TRADITIONAL) * 20
    got, notes = whole(make, text.encode(codec) + b"\xff\xff\n" + text.encode(codec))
    assert notes["encoding"] == codec and notes["bad_bytes"] == 2 and got == f"{text}��\n{text}"


def test_ascii_that_goes_on_past_the_sample(make):
    text = "Only ASCII here.\n" * (SAMPLE // 10) + CHINESE * 10
    got, notes = whole(make, text.encode("gb18030"))
    assert got == text and notes["encoding"] == "gb18030"


@settings(deadline=None, max_examples=60)
@given(st.binary(min_size=1, max_size=200).filter(lambda data: b"\0" not in data), st.integers(1, 9))
def test_any_bytes_are_read(held, data, read_block):
    from longseq.formats.text import records

    (record,) = found = [(r, "".join(r.pieces)) for r in records(held(data), read_block=read_block)]
    (again,) = [(r, "".join(r.pieces)) for r in records(held(data))]
    assert len(found) == 1 and (record[1], record[0].notes) == (again[1], again[0].notes)
    assert record[1].count("\ufffd") >= int(record[0].notes.get("bad_bytes", 0))


def test_noise_is_read(make):
    data = b"Text first.\n" + bytes(random.Random(1).randrange(32, 256) for _ in range(20_000))
    got, notes = whole(make, data)
    assert got.startswith("Text first.\n") and notes.get("bad_bytes", 0) == got.count("\ufffd")
