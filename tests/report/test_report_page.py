"""What every page of a run says, whatever its inputs are."""

import io

from longseq.report.report_page import PROBLEMS, Facts, ReportPage
from longseq.results.run import Run
from longseq.results.source import SourceRow


def test_what_was_not_read_stands_on_a_page_of_any_kind():
    lost = tuple(f"<b>{i}</b>.txt: is empty" for i in range(PROBLEMS + 9))
    sources = [SourceRow(file="a.txt", kind="document", truncated=True), SourceRow(file="b.txt", errors=lost)]
    out = io.StringIO()
    with ReportPage([]) as page:
        page.write(out, Facts(run=Run(version="1", command="longseq"), sources=sources, samples=["a", "b"], request={}))
    text = out.getvalue()
    assert "<li>a.txt: ended too early" in text and "<li>&lt;b&gt;0&lt;/b&gt;.txt: is empty</li>" in text
    assert text.count(".txt: is empty") == PROBLEMS - 1 and "… and 10 more, in summary.json" in text
