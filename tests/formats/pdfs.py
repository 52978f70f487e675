"""PDFs with the traps of real ones, made by other hands than the readers under test."""

import io
from collections.abc import Callable, Iterable
from pathlib import Path

import pypdf
import reportlab
from PIL import Image
from pypdf.generic import ArrayObject, ByteStringObject, DictionaryObject, NameObject, NumberObject, StreamObject
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT, LEFT, TOP, LEADING, SIZE = 595, 842, 72, 740, 13, 11
FONT = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"
pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
pdfmetrics.registerFont(TTFont("Vera", str(FONT)))

WORDS = [
    "the",
    "lamp",
    "of",
    "a",
    "tower",
    "was",
    "lit",
    "at",
    "dusk",
    "by",
    "its",
    "keeper",
    "and",
    "burned",
    "until",
    "the",
    "sun",
    "rose",
    "over",
    "grey",
    "water",
]


def sentences(count: int, start: int = 0) -> str:
    """Prose whose sentences all differ."""
    found = []
    for i in range(start, start + count):
        turned = WORDS[i % len(WORDS) :] + WORDS[: i % len(WORDS)]
        found.append(f"Entry {chr(97 + i % 26)}{chr(97 + i // 26 % 26)} says that {' '.join(turned)}.")
    return " ".join(found)


def wrapped(text: str, width: float = WIDTH - 2 * LEFT, font: str = "Helvetica", size: float = SIZE) -> list[str]:
    """Lines of a paragraph as a typesetter breaks them, without hyphens."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if pdfmetrics.stringWidth(longer, font, size) > width:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line]


def pdf(*pages: Callable[[Canvas], None], **options: object) -> bytes:
    """A document, a page for each function that draws one."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(WIDTH, HEIGHT), invariant=1, **options)
    for draw in pages:
        canvas.setFont("Helvetica", SIZE)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def lines(
    canvas: Canvas,
    texts: Iterable[str],
    x: float = LEFT,
    y: float = TOP,
    *,
    font: str = "Helvetica",
    size: float = SIZE,
) -> float:
    """Draws lines from `y` down; where the next one would stand."""
    canvas.setFont(font, size)
    for text in texts:
        canvas.drawString(x, y, text)
        y -= LEADING * size / SIZE
    return y


def page(*texts: str, head: str = "", foot: str = "") -> Callable[[Canvas], None]:
    """A page of paragraphs."""

    def draw(canvas: Canvas) -> None:
        y = TOP
        if head:
            lines(canvas, [head], y=HEIGHT - 45, size=9)
        for text in texts:
            y = lines(canvas, wrapped(text), y=y) - LEADING
        if foot:
            lines(canvas, [foot], x=280, y=40, size=9)

    return draw


def scan(canvas: Canvas) -> None:
    """A page that is a picture."""
    picture = Image.effect_noise((60, 80), 90)
    canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT)


def edited(data: bytes, change: Callable[[pypdf.PdfWriter], None]) -> bytes:
    """The document after a change by pypdf."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    change(writer)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def damage(writer: pypdf.PdfWriter, index: int) -> None:
    """Makes the content of a page something that no inflater takes."""
    stream = StreamObject()
    stream._data = b"\xff\x00garbage" * 20
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    writer.pages[index][NameObject("/Contents")] = writer._add_object(stream)


def named(**entries: object) -> DictionaryObject:
    """A dictionary of names, numbers and objects, its keys with their slash."""
    values = {key: NameObject(f"/{value}") if isinstance(value, str) else value for key, value in entries.items()}
    return DictionaryObject({NameObject(f"/{key}"): value for key, value in values.items()})


def glyphs(text: str, *, embedded: bool = True) -> bytes:
    """A page whose font numbers its glyphs and does not say which characters they are (ISO 32000-1, 9.7.4)."""
    font = TTFont("Numbered", str(FONT)).face

    def change(writer: pypdf.PdfWriter) -> None:
        about = named(Type="FontDescriptor", FontName="Numbered", Flags=NumberObject(4), StemV=NumberObject(80))
        about |= named(Ascent=NumberObject(900), Descent=NumberObject(-200), CapHeight=NumberObject(700))
        about |= named(ItalicAngle=NumberObject(0), FontBBox=ArrayObject(map(NumberObject, (-100, -200, 1000, 900))))
        if embedded:
            file = StreamObject()
            file._data = FONT.read_bytes()
            about |= named(FontFile2=writer._add_object(file))
        system = DictionaryObject()
        for key, value in (("/Registry", b"Adobe"), ("/Ordering", b"Identity")):
            system[NameObject(key)] = ByteStringObject(value)
        system |= named(Supplement=NumberObject(0))
        below = named(Type="Font", Subtype="CIDFontType2", BaseFont="Numbered", CIDToGIDMap="Identity")
        below |= named(CIDSystemInfo=system, FontDescriptor=writer._add_object(about), DW=NumberObject(600))
        whole = named(Type="Font", Subtype="Type0", BaseFont="Numbered", Encoding="Identity-H")
        whole |= named(DescendantFonts=ArrayObject([writer._add_object(below)]))
        sheet = writer.pages[0]
        sheet[NameObject("/Resources")] = named(Font=named(F1=writer._add_object(whole)))
        content = StreamObject()
        shown = []
        for i, line in enumerate(wrapped(text)):
            codes = "".join(f"{font.charToGlyph[ord(letter)]:04x}" for letter in line)
            shown.append(f"BT /F1 {SIZE} Tf {LEFT} {TOP - LEADING * i} Td <{codes}> Tj ET")
        content._data = "\n".join(shown).encode()
        sheet[NameObject("/Contents")] = writer._add_object(content)

    return edited(pdf(lambda canvas: None), change)
