"""HTML, EPUB, DOCX and JATS: what is read on the page, its sections, and nothing else; hostile files bounded."""

import random

import pytest
from packed import TYPES, archive, docx, epub
from pdfs import page, pdf

from longseq.errors import InputError
from longseq.formats import read


@pytest.fixture
def parts_of(make):
    """`parts_of(name, data)` is ([(part, text)], [(depth, title)], record)."""

    def call(name: str, data: bytes | str):
        path = make(name, data.encode() if isinstance(data, str) else data)
        (record, text), *more = [(r, "".join(r.pieces)) for r in read(path)]
        assert not more and record.length == len(text)
        marks = record.layout.marks
        found, at = [], 0
        for block in text.split("\n\n")[:-1]:
            part = [mark for mark in marks if mark.start <= at][-1].part
            found.append((part, block))
            at += len(block) + 2
        return found, [(mark.depth, mark.title) for mark in marks if mark.depth], record

    return call


PAGE = """<!DOCTYPE html><html><head><title>Of  Lamps</title><style>p {}</style>
<script>let a = "<p>no</p>";</script></head>
<body><header><a href=/>Home</a></header><nav><ul><li><a href=x>Menu</a></ul></nav>
<h1>The <em>Lamp</em><a class="headerlink" href="#a">¶</a></h1>
<p>It was lit at&nbsp;dusk,<br>and burned <b>un</b>til dawn.
<p hidden>No.<p style="display: none">No.<div>Loose words <span>here</span><p>A paragraph.</p>and after.</div>
<h2>Parts</h2><ul><li>A wick<li>Oil, which <a href=y>some</a> make.<ul><li>Whale oil</ul></ul>
<ul><li><a href=z>Elsewhere</a></ul><ol><li>First, light it.</ol>
<blockquote>We kept it lit.</blockquote><pre>a = 1
  b = 2</pre><table><caption>Of lamps</caption><tr><th>Year<th>Height<tr><td>1901<td>12 m</table>
<table><tr><td><p>A page laid out by a table.</table><figure><img src=x><figcaption>A figure.</figcaption></figure>
<form><input value=no><button>No</button></form><noscript>No</noscript><!-- no --><svg><text>no</text></svg>
<footer>No.</footer></body></html>"""


def test_html(parts_of):
    found, sections, record = parts_of("a", PAGE)
    assert found == [
        ("heading", "The Lamp"),
        ("prose", "It was lit at\xa0dusk,"),
        ("prose", "and burned until dawn."),
        ("prose", "Loose words here"),
        ("prose", "A paragraph."),
        ("prose", "and after."),
        ("heading", "Parts"),
        ("item", "A wick"),
        ("item", "Oil, which some make."),
        ("item", "Whale oil"),
        ("note", "Elsewhere"),
        ("numbered", "First, light it."),
        ("quote", "We kept it lit."),
        ("code", "a = 1\n  b = 2"),
        ("note", "Of lamps"),
        ("table", "Year | Height"),
        ("table", "1901 | 12 m"),
        ("prose", "A page laid out by a table."),
        ("note", "A figure."),
    ]
    assert sections == [(1, "The Lamp"), (2, "Parts")] and record.layout.sectioned
    assert record.description == "Of Lamps" and record.notes == {"format": "html", "encoding": "utf-8"}


def test_numbers_of_notes_and_addresses_behind_links_are_no_text(parts_of):
    page = (
        '<p>It burned oil. <a class="footnote-reference brackets" href="#n4">4</a> It was <a href="x">said</a>'
        '<span class="link-target"> [https://example.org]</span> to be lit<a class="footnote-ref" href="#n5">5</a>.</p>'
    )
    page += '<dl class="footnote brackets"><dt class="label">4</dt><dd><p>A note.</p></dd></dl>'
    assert parts_of("a", "<!DOCTYPE html>" + page)[0] == [
        ("prose", "It burned oil. It was said to be lit."),
        ("note", "4"),
        ("note", "A note."),
    ]


@pytest.mark.parametrize(
    ("said", "codec", "encoding"),
    [
        ("gb2312", "gb18030", "gb18030"),
        ("big5", "big5", "big5"),
        ("iso-8859-1", "cp1252", "cp1252"),
        ("iso-8859-2", "iso-8859-2", "iso-8859-2"),
        ("utf-8", "utf-8", "utf-8"),
        ("iso-8859-1", "utf-8", "utf-8"),  # not what it says
        ("no-such", "gb18030", "gb18030"),
        ("utf-16", "utf-16", "utf-16-le"),
    ],
)
def test_encoding_of_a_page(parts_of, said, codec, encoding):
    text = {"gb": "海上的灯塔，每天晚上都会点亮。", "bi": "海上的燈塔，每天晚上都會點亮。"}.get(
        codec[:2], "Größe, “café”."
    )
    text = "Młyn żółty" if codec == "iso-8859-2" else text
    page = f'<!DOCTYPE html><html><head><meta charset="{said}"></head><body><p>{text}</p></body></html>'
    found, _, record = parts_of("a", page.encode(codec))
    assert found == [("prose", text)] and record.notes["encoding"] == encoding


def test_the_main_part_of_a_page(parts_of):
    side = "<div><p>Read also this and that.</p></div>"
    page = f"<html><body>{side}<main><h1>One</h1><p>{'It was lit at dusk. ' * 9}</p></main>{side}</body></html>"
    found, _, _ = parts_of("a", page)
    assert [text for _, text in found] == ["One", "It was lit at dusk. " * 8 + "It was lit at dusk."]


@pytest.mark.parametrize("page", ["<html>", "<html><body><p>a<b>c<td>d</p></i>"])
def test_broken_pages_are_read(make, page):
    (text,) = ["".join(record.pieces) for record in read(make("a", page.encode()))]
    assert "\0" not in text


CHAPTERS = {
    "b": "<section><h1>One</h1><p>It was lit&#160;at dusk.<a epub:type='noteref' href='#n'>1</a></p>"
    "<aside epub:type='footnote' id='n'>A note.</aside></section>",
    "a": "<p>It burned until dawn.</p>",
    "c": "<p>Not in the spine.</p>",
}
NAVIGATION = (
    "<html xmlns:epub='http://www.idpf.org/2007/ops'><body><nav epub:type='toc'><ol><li><a href='b.xhtml'>One</a></li>"
    "<li><a href='a.xhtml#x'>Two, unnamed</a></li></ol></nav></body></html>"
)


def test_epub_in_the_order_of_its_spine(parts_of):
    item = '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
    data = epub(CHAPTERS, spine=["nav", "b", "a"], more=item, extra={"OEBPS/nav.xhtml": NAVIGATION})
    found, sections, record = parts_of("a", data)
    assert found == [
        ("heading", "One"),
        ("prose", "It was lit\xa0at dusk."),
        ("note", "A note."),
        ("prose", "It burned until dawn."),
    ]
    assert sections == [(1, "One"), (1, "Two, unnamed")]
    assert record.description == "Of Lamps" and record.notes == {"format": "epub", "chapters": 2}


def p(text: str, style: str = "", more: str = "") -> str:
    """A paragraph of Word."""
    of = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{of}{more}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_docx(parts_of):
    cells = [f"<w:tc>{p(text)}</w:tc>" for text in ("Year", "Height", "1901", "12 m")]
    box = f"<mc:AlternateContent xmlns:mc='m'><mc:Choice><w:txbxContent>{p('In a box.')}</w:txbxContent></mc:Choice>"
    box += f"<mc:Fallback><w:txbxContent>{p('In a box.')}</w:txbxContent></mc:Fallback></mc:AlternateContent>"
    body = (
        p("Of Lamps", "T")
        + p("The Lamp", "H1")
        + "<w:p><w:r><w:t xml:space='preserve'>It was </w:t></w:r><w:ins><w:r><w:t>lit</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>put out</w:delText></w:r></w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r>"
        "<w:r><w:tab/><w:t>at dusk.</w:t><w:footnoteReference w:id='2'/></w:r>"
        f"<w:hyperlink><w:r><w:t> Always.</w:t></w:r></w:hyperlink><w:r>{box}</w:r></w:p>"
        + p("Its parts", "Own")
        + p("A wick", more="<w:numPr/>")
        + f"<w:tbl><w:tr>{cells[0]}{cells[1]}</w:tr><w:tr>{cells[2]}{cells[3]}</w:tr></w:tbl>"
        + p("3", more="<w:outlineLvl w:val='2'/>")
        + f"<w:sdt><w:sdtContent>{p('One ..... 3', 'TOC1')}</w:sdtContent></w:sdt>"
        + p("It burned until dawn.")
    )
    styles = "".join(
        f'<w:style w:styleId="{key}"><w:name w:val="{name}"/>{more}</w:style>'
        for key, name, more in (
            ("H1", "heading 1", ""),
            ("H2", "heading 2", ""),
            ("Own", "My own", '<w:basedOn w:val="H2"/>'),
            ("T", "Title", ""),
            ("TOC1", "toc 1", ""),
        )
    )
    notes = f"<w:footnote w:id='0' w:type='separator'>{p('no')}</w:footnote>"
    notes += f"<w:footnote w:id='2'>{p('A note.')}</w:footnote>"
    found, sections, _ = parts_of("a", docx(body, styles=styles, footnotes=notes))
    assert found == [
        ("heading", "Of Lamps"),
        ("heading", "The Lamp"),
        ("prose", "It was lit at dusk. Always."),
        ("prose", "In a box."),
        ("note", "A note."),
        ("heading", "Its parts"),
        ("item", "A wick"),
        ("table", "Year | Height"),
        ("table", "1901 | 12 m"),
        ("heading", "3"),
        ("note", "One ..... 3"),
        ("prose", "It burned until dawn."),
    ]
    assert sections == [(1, "The Lamp"), (2, "Its parts"), (3, "3")]


ARTICLE = """<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS" "JATS-archivearticle1.dtd">
<article><front><journal-meta><journal-title>No</journal-title></journal-meta><article-meta>
<article-id pub-id-type="doi">10.1/lamp</article-id>
<title-group><article-title>Of <italic>Lamps</italic></article-title></title-group>
<contrib-group>No</contrib-group><abstract><p>We lit lamps.</p></abstract></article-meta></front>
<body><sec><title>Results</title><p>It was lit<xref>1</xref>:
<list><list-item><p>A wick</p></list-item></list> and oil.</p>
<sec><title>Detail</title><p>It &amp; they burned.</p>
<fig><label>Figure 1</label><caption><p>A lamp.</p></caption></fig>
<table-wrap><table><tr><td>1901</td><td>12 m</td></tr></table></table-wrap></sec></sec></body>
<back><ref-list><title>References</title>
<ref><mixed-citation>Smith 1901.</mixed-citation></ref></ref-list></back></article>"""


def test_jats(parts_of):
    found, sections, record = parts_of("a.xml", ARTICLE)
    assert found == [
        ("heading", "Of Lamps"),
        ("prose", "We lit lamps."),
        ("heading", "Results"),
        ("prose", "It was lit1:"),
        ("item", "A wick"),
        ("prose", "and oil."),
        ("heading", "Detail"),
        ("prose", "It & they burned."),
        ("note", "A lamp."),
        ("table", "1901 | 12 m"),
        ("heading", "References"),
        ("note", "Smith 1901."),
    ]
    assert sections == [(1, "Abstract"), (1, "Results"), (2, "Detail"), (1, "References")]
    assert record.description == "Of Lamps" and record.id == "a.xml"


BOMB = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (BOMB + "<article><body><p>&b;</p></body></article>", "found a declaration of them"),
        (OUTSIDE + "<article><body><p>&a;</p></body></article>", "found a declaration of them"),
        ("<article><body><p>One.</body></article>", "expected well-formed XML, found "),
        (docx("").replace(b"word/document", b"word/documenX"), "expected a Word document, found a zip archive"),
        (archive({"[Content_Types].xml": TYPES, "xl/workbook.xml": "<x/>"}), "found an Excel workbook"),
        (
            archive({"[Content_Types].xml": TYPES, "word/document.xml": bytes(1 << 25)}),
            "of sound size, found 33,554,432",
        ),
        (docx("<w:p/>")[:-30], "is no whole zip archive"),
        (docx(OUTSIDE), "expected well-formed XML"),
        (
            epub({"a": "<p>One.</p>"}, spine=["a"], more='<item id="x" href="../../etc/passwd"/>'),
            "links inside the archive",
        ),
        (epub({"a": "<p>One.</p>"}, spine=["b"]), "expected chapters in the EPUB's spine, found none"),
        (archive({"mimetype": "application/epub+zip"}), "expected a part 'META-INF/container.xml'"),
    ],
)
def test_hostile_and_broken_files_are_one_error(make, data, problem):
    path = make("a", data.encode() if isinstance(data, str) else data)
    with pytest.raises(InputError, match=problem) as caught:
        ["".join(record.pieces) for record in read(path)]
    assert str(caught.value).startswith(path) and "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["html", "jats", "epub", "docx", "pdf"])
def test_damaged_files_are_read_or_one_error(make, kind):
    whole = {
        "html": PAGE.encode(),
        "jats": ARTICLE.encode(),
        "epub": epub(CHAPTERS, spine=["b", "a"]),
        "docx": docx(p("Of Lamps") + p("It was lit.")),
        "pdf": pdf(page("It was lit."), page("It burned.")),
    }[kind]
    rng = random.Random(5)
    outcomes = set()
    for i in range(150):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 3, 10])):
            at = rng.randrange(len(data) - 1)
            data[at : at + rng.choice([0, 1, 1, 1, 9])] = bytes(
                rng.randrange(256) for _ in range(rng.choice([0, 1, 1]))
            )
        try:
            ["".join(record.pieces) for record in read(make(f"{i}", bytes(data)))]
            outcomes.add("read")
        except InputError as error:
            outcomes.add("error" if "\n" not in str(error) else str(error))
    assert outcomes == {"read", "error"}
