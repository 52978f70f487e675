"""What titles and wording say: roles of sections, cues, openers that look back, back matter and licences."""

import pytest

from longseq.records import Record
from longseq.tasks.document.cues import Cue, cues, dangles
from longseq.tasks.document.priors import Outline
from longseq.tasks.document.request import DocumentRequest
from longseq.tasks.document.sections import Role, role_of
from longseq.tasks.document.select import Budget
from longseq.tasks.document.summary import summarize_document
from longseq.tokens.stems import stem

NOUNS = [
    "roof",
    "door",
    "gate",
    "wall",
    "chapel",
    "school",
    "tavern",
    "mill",
    "bridge",
    "ferry",
    "bell",
    "stair",
    "lens",
    "ledge",
    "anchor",
    "rope",
]
VERBS = ["mended", "painted", "guarded", "measured"]
PROSE = "\n\n".join(
    f"The {a} and the {b} were {VERBS[i % 4]} by {NOUNS[i - 5]} hands that knew the {NOUNS[i - 9]} of the tavern."
    for i, (a, b) in enumerate(zip(NOUNS, NOUNS[3:] + NOUNS[:3], strict=True))
)


def quoted(text: str, amount=100) -> list[str]:
    record = Record(id="d", kind="document", source="d", index=0, pieces=iter([text]))
    found = summarize_document(record, DocumentRequest(budget=Budget(amount=amount)))
    return [row.text for row in found.sentences]


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("Abstract", Role.SUMMARY),
        ("Annual Report > Executive summary", Role.SUMMARY),
        ("1. Introduction", Role.OPENING),
        ("2.3 Materials and Methods > Cells", Role.METHODS),
        ("IV. Results", Role.RESULTS),
        ("Results and Discussion", Role.RESULTS),
        ("Discussion", Role.DISCUSSION),
        ("Discussion > Conclusions", Role.CONCLUSION),
        ("References", Role.BACK),
        ("A > Acknowledgements > B", Role.BACK),
        ("Index funds for beginners", Role.PLAIN),
        ("Chapter 3", Role.PLAIN),
        ("", Role.PLAIN),
        ("一、引言", Role.OPENING),
        ("三、研究方法", Role.METHODS),
        ("结论", Role.CONCLUSION),
        ("参考文献", Role.BACK),
    ],
)
def test_roles(path, role):
    assert role_of(path) is role


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("In conclusion, the tide decides.", Cue.CONCLUDES),
        ("We show that the tide decides.", Cue.FINDS),
        ("The court finds for the defendant.", Cue.FINDS),
        ("The aim of this study was to count.", Cue.AIMS),
        ("Most importantly, the lamp burned.", Cue.STRESSES),
        ("The rise is plain (Fig. 2A).", Cue.POINTS),
        ("It was so before [12].", Cue.CITES),
        ("It was so before (Ode et al., 2004).", Cue.CITES),
        ("综上所述，应当驳回。", Cue.CONCLUDES),
        ("结果表明水位上升。", Cue.FINDS),
        ("本文讨论水位。", Cue.AIMS),
    ],
)
def test_cues(text, cue):
    assert cues(text) & cue and cues(text.replace(" ", "\n   ")) & cue
    assert not cues("The lamp was lit at dusk.") & cue


@pytest.mark.parametrize(
    "text",
    [
        "This shows it.",
        "He therefore left.",
        "It burned.",
        "However, no.",
        "“And yet it moves.”",
        "此外，他走了。",
        "他走了。",
    ],
)
def test_openers_that_look_back(text):
    assert dangles(text)


def test_where_a_line_ends_does_not_matter():
    assert not dangles("This\nstudy shows it.")
    notice = "The people of the village who mended the tavern in the spring say: all rights\nreserved."
    assert notice not in quoted(f"{PROSE}\n\n{notice}")


@pytest.mark.parametrize(
    "text", ["This study shows it.", "Italy is far.", "Thatcher left.", "Sofia slept.", "The lamp burned.", "灯亮了。"]
)
def test_openers_that_stand_alone(text):
    assert not dangles(text)


def test_openers_without_what_they_refer_to_are_counted():
    text = "Osgood kept the light of the harbour for thirty years. He never left it for a single night of them."
    record = Record(id="d", kind="document", source="d", index=0, pieces=iter([text]))
    both = summarize_document(record)
    assert (both.dangling, [row.dangling for row in both.sentences]) == (0, [False, False])
    record = Record(id="d", kind="document", source="d", index=0, pieces=iter([text]))
    one = summarize_document(record, DocumentRequest(budget=Budget(amount=1), exclude=("Osgood",)))
    assert (one.dangling, [row.dangling for row in one.sentences]) == (1, [True])


@pytest.mark.parametrize(
    "section",
    [
        "# References\n\nOde wrote in the journal of the village that the tavern was mended by the people.",
        "# Acknowledgements\n\nThe authors thank the people of the village who mended the tavern in the spring.",
        "Copyright 2021 by the people of the village, who mended the tavern in the spring. All rights reserved.",
        "This is an article distributed under the terms of the Creative Commons Attribution License of the village.",
        "# Contents\n\nThe roof of the chapel ........ 3\n\nThe door of the school ........ 7",
    ],
)
def test_back_matter_and_licences_are_not_quoted(section):
    found = quoted(PROSE + "\n\n" + section)
    assert len(found) > 3 and not any(text in section for text in found)


def test_what_surrounds_an_electronic_book_is_not_quoted():
    front = "This file of the mill and the tavern was mended by volunteers of the village in the spring.\n\n"
    front += "*** START OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n"
    back = "\n\n*** END OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n"
    back += "The people of the village may copy the mill and the tavern as they like in the spring."
    found = quoted(front + PROSE + back)
    assert len(found) > 3 and all(text in PROSE for text in found)


def test_where_there_is_nothing_else_back_matter_is_quoted():
    assert quoted("# References\n\nOde wrote that the tavern was mended by the people of it.")


def test_chapters_are_where_titles_first_differ():
    outline = Outline(["Book", "Book > One", "Book > One > a", "Book > Two", "Book > Two > a"])
    assert outline.level == 2
    assert outline.chapters.tolist() == [0, 1, 1, 2, 2]
    assert Outline([]).level == 1 and Outline([""]).chapters.tolist() == [0]


@pytest.mark.parametrize(
    "forms",
    [
        ("keeper", "keepers", "keeper's"),
        ("light", "lights", "lighted", "lighting"),
        ("study", "studies", "studied", "studying"),
        ("stop", "stops", "stopped", "stopping"),
        ("hide", "hides", "hiding"),
        ("box", "boxes"),
    ],
)
def test_stems(forms):
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["is", "this", "glass", "ring", "灯塔", "été", "a1s", "basis", "virus"])
def test_words_that_keep_their_ends(word):
    assert stem(word) == word
