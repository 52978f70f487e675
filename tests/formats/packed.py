"""Documents packed as zip archives, written part by part."""

import io
import zipfile

CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def archive(parts: dict[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for name, data in parts.items():
            how = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            out.writestr(zipfile.ZipInfo(name), data, how)
    return file.getvalue()


def epub(chapters: dict[str, str], *, spine: list[str], more: str = "", extra: dict[str, str] | None = None) -> bytes:
    """A book of XHTML chapters by name; `spine` is the order in which they are read."""
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in sorted(chapters)
    )
    refs = "".join(f'<itemref idref="{name}"/>' for name in spine)
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>Of Lamps</dc:title></metadata><manifest>{items}{more}</manifest>"
        f"<spine>{refs}</spine></package>"
    )
    parts = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/book.opf": book}
    page = '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head>{}</html>'
    parts |= {f"OEBPS/{name}.xhtml": page.format(f"<body>{body}</body>") for name, body in chapters.items()}
    return archive(parts | (extra or {}))


def docx(body: str, **parts: str) -> bytes:
    """A document of Word with this body; other parts by name: `styles`, `footnotes`."""
    whole = {"[Content_Types].xml": TYPES, "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>"}
    whole |= {f"word/{name}.xml": f"<w:{name} {W}>{data}</w:{name}>" for name, data in parts.items()}
    return archive(whole)
