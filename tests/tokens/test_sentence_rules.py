"""Where sentences end in citations, transcripts, speech, lists and many languages: each line of a passage is one."""

import pytest

from longseq.tokens.sentences import sentences
from longseq.tokens.sentences.language import language_of

PASSAGES = {
    "court": """
        The motion is granted under Fed. R. Civ. P. 56(a).
        See Smith v. Jones, 123 U.S. 456, 789 (1999).
        Fed. R. Evid. 403 is no bar.
        The rule stands in 12 F. Supp. 2d 34 (S.D.N.Y. 1998), and in 100 S. Ct. 123.
        Def.'s Mot. Summ. J. at 5.
        Pl.'s Opp'n at 3; Smith Decl. Ex. C, at 2.
        Id. at 12.
        Am. Compl. ¶¶ 3-5.
        He sued under 42 U.S.C. § 1983 and Cal. Civ. Code § 1714.
        Cal. Code Regs. tit. 8, § 3 says so too.
        The action is No. 12-cv-345.
        Dkt. No. 45.
        Art. 5 applies, and Art. III does not.
        In Brown v. Bd. of Educ. of Topeka, 347 U.S. 483 (1954), the U.S. Supreme Court disagreed.
        Pub. L. No. 104-12, 110 Stat. 56.
        Aff'd, 12 F.3d 34 (2d Cir. 1999).
        The claim (see id.; Roe v. Doe, 3 F.4th 5, 7 n.3 (9th Cir. 2021)) fails.
        The plaintiff is Acme Inc.
        The defendant left the U.S.
        It is so ordered.
        """,
    "speakers": """
        Q.  Did you see the lamp?
        A.  Yes.
        Q.  When?
        A.  At 5 p.m. on Jan. 3.
        MR. JONES:  Objection.
        THE WITNESS:  I saw it.
        Q: And then?
        A: No.
        """,
    "speech": """
        “Go away!” he said.
        “I will not.”
        'I am here.'
        ‘Is it?’ she asked.
        He said, “I go. I must.” and left.
        «C'est vrai.»
        « Il part. »
        "Stop."
        It was called “the end.”
        Nobody knew (it was late. Too late) of it.
        """,
    "lists": """
        1. Do this.
        2. Do that.
        (a) Light the lamp.
        (b) Trim the wick.
        IV. Close the door.
        2.1. Open it.
        The list has no more than 12.
        It ends here.
        """,
    "abbreviations": """
        Dr. No met J. R. R. Tolkien and George W. Bush.
        Smith et al. (2010) paid 3.5 dollars, cf. p. 5 and pp. 6-7.
        See Fig. 3, Figs. 4 and 5, vol. 2, no. 4, and Eq. (7).
        It was approx. five, e.g. Monday, i.e. late.
        He has a Ph.D.
        She has cats, dogs, etc.
        The file a.txt is there.
        Version 2.3.1 is at https://example.com/a.b?c=d.
        Write to a.b@example.org.
        It begins with #!/bin/sh and asks for /x?/yes.
        Wait... what?
        He left...
        So it was…
        But it was Henry V.
        He lived in Main St.
        The end.
        """,
    "notes": """
        It stands in parentheses.4
        This number may be omitted.
        She left in version 2.4 of it.
        It was so. [7]
        They came.
        """,
    "German": """
        Am 5. Mai kam z. B. Dr. Maier mit der Bahn.
        Die 2. Etage ist nicht frei.
        Vgl. Art. 6 Abs. 2 Satz 1 GG.
        „Das ist so. Ja.“
        Er ging.
        """,
    "French": """
        M. Dupont est dans la salle.
        « C'est vrai. »
        Voir p. 5 et art. 3 du code.
        Il partit.
        """,
    "Spanish": """
        El Sr. Gómez vino con su madre.
        ¿Qué?
        ¡No!
        La Sra. Ruiz lee la pág. 5.
        """,
    "Russian": "А. С. Пушкин, т.е. поэт, был здесь.\nСм. стр. 5.\nЧто?\nДа.",
    "Greek": "Τι κάνεις;\nΚαλά.\nΝαι;",
    "Armenian": "Բարև։\nԻնչպե՞ս ես։\nԵս լավ եմ:\nԱյո։",
    "Arabic": "قال د. أحمد: هل هذا صحيح؟\nنعم، هو صحيح؛ لكنه بعيد.\nبلغ 3.5 كيلو.\nمن أنت؟",
    "Urdu": "یہ سچ ہے۔\nکیا آپ آئے؟\nہاں۔",
    "Hindi": "यह है।\nडॉ. शर्मा आए।\nक्या आप आए?\nहाँ!\n3.5 किलो था॥\nठीक।",
    "Burmese": "ဒါဟာ မှန်တယ်။\nကောင်းတယ်။",
    "Khmer": "នេះជាសៀវភៅ។\nល្អណាស់។",
    "Amharic": "ይህ ነው።\nደህና ነው።",
    "Korean": "이것은 등대다.\n3.5킬로다.\n정말?\n네!",
    "Thai": """
        ประภาคารตั้งอยู่บนเกาะเล็ก ๆ กลางทะเล
        ผู้ดูแลอาศัยอยู่ที่นั่นมาสามสิบปี และไม่เคยออกจากเกาะ
        ทุกคืนเขาจุดไฟให้เรือที่แล่นผ่านเห็นฝั่ง
        """,
    "mixed": "The tower is old.\n灯塔很老。\n守塔人说：“是的。”\nHe agreed.\nयह है।\nनقال.\nIt ends.".replace(
        "नقال", "ثم قال"
    ),
}
UNSPACED = {
    "Chinese": """
        他说：“你好。走吧！”
        “为什么？”他问。
        “好！”
        她说：“走吧。”
        “走！”
        我不知道。
        他来了?
        她走了!
        他(说。好)走了。
        （见附录。）
        第3.5条有效。
        10月来了。
        他来了……她走了。
        依照《合同法》第一百零七条之规定，判决如下：一、被告支付原告人民币10,000.50元；二、驳回其他请求。
        """,
    "Japanese": """
        「行くよ。」と彼は言った。
        『本当？』
        彼女は笑った。
        3.5キロ歩いた。
        「行く。」
        とても寒い。
        彼は（静かに。）去った。
        もうだめだ……。
        行こう！！
        """,
}


def lines(passage: str) -> list[str]:
    return [line.strip() for line in passage.strip().splitlines()]


@pytest.mark.parametrize(("name", "between"), [*((name, " ") for name in PASSAGES), *((name, "") for name in UNSPACED)])
def test_a_passage_is_split_line_by_line(name, between):
    written = lines((PASSAGES | UNSPACED)[name])
    assert [s.text for s in sentences([between.join(written)])] == written


@pytest.mark.parametrize("name", PASSAGES)
def test_ends_of_lines_are_blanks(name):
    """A passage whose every blank is a line end is split at the same places."""
    written = lines(PASSAGES[name])
    if name in ("Thai", "speakers"):  # a blank parts words there; a turn begins its line
        return
    assert [" ".join(s.text.split()) for s in sentences(["\n".join(" ".join(written).split())])] == [
        " ".join(line.split()) for line in written
    ]


def test_a_turn_begins_its_line_whatever_was_before():
    text = "Q.  Did you see\nit\nA.  I did not see\nthe lamp\n12   Q.  Why"
    assert [s.text for s in sentences([text])] == ["Q.  Did you see\nit", "A.  I did not see\nthe lamp", "12   Q.  Why"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Er ist nicht in der Stadt und sie auch.", "de"),
        ("Il est dans la rue et elle ne vient pas.", "fr"),
        ("The lamp of the tower.", "en"),
        ("Lamp", "en"),
        ("", "en"),
        ("12 345", "en"),
        ("灯塔 lighthouse 很老，没有人住。", "zh"),
        ("吾輩は猫である。", "ja"),
        ("The word 灯塔 is Chinese for it.", "en"),
        ("это маяк", "ru"),
        ("هذا", "ar"),
    ],
)
def test_the_language_of_a_passage(text, language):
    assert language_of(text) == language


def test_what_is_told_is_for_latin_letters_without_a_sign():
    assert language_of("Lampa", "fi") == "fi"
    assert language_of("The lamp of the tower and of the sea.", "fi") == "fi"
    assert language_of("灯塔", "fi") == "zh"
