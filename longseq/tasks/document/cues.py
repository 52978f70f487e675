"""What the wording of a sentence says of its use in a summary: phrases that announce, point elsewhere or look back.

English and Chinese; a sentence of another language has none of these marks and is judged without them.
"""

from __future__ import annotations

import re
from enum import IntFlag

_NOUNS = (
    r"(?:study|paper|work|article|report|research|review|thesis|chapter|book|investigation|analys[ie]s|trial|survey)"
)
_FOUND = (
    r"(?:show(?:s|ed)?|finds?|found|demonstrate[sd]?|reveal(?:s|ed)?|indicate[sd]?|suggest(?:s|ed)?|"
    r"identif(?:y|ies|ied)|observed?|confirm(?:s|ed)?|establish(?:es|ed)?|provide[sd]?|discover(?:s|ed)?|"
    r"support(?:s|ed)?|impl(?:y|ies|ied)|highlights?|prove[sd]?)"
)
_DID = (
    r"(?:propose[sd]?|present(?:s|ed)?|describe[sd]?|report(?:s|ed)?|investigate[sd]?|introduce[sd]?|develop(?:s|ed)?|"
    r"examine[sd]?|explore[sd]?|address(?:es|ed)?|stud(?:y|ies|ied)|test(?:s|ed)?|aim(?:s|ed)?|ask(?:s|ed)?|sought|"
    r"compare[sd]?|evaluate[sd]?|assess(?:es|ed)?|analy[sz]e[sd]?|used?|recommend(?:s|ed)?|argue[sd]?)"
)
_LOOKS_BACK = (
    r"this|that|these|those|it|its|he|she|they|his|her|their|such|here|there,|then|thus|hence|therefore|however|moreover|"
    r"furthermore|nevertheless|nonetheless|consequently|accordingly|additionally|likewise|similarly|conversely|instead|"
    r"otherwise|also|but|and|or|so|yet|still|again|besides|meanwhile|rather|indeed|finally|second(?:ly)?|third(?:ly)?|"
    r"latter|former|the (?:latter|former|same|other)|in (?:contrast|addition|turn|other words|particular|th(?:is|at) "
    r"case|these cases)|on the (?:other hand|contrary)|as a (?:result|consequence)|for (?:this|that|these) "
    r"(?:reasons?|purposes?)|by contrast|at this|after that|because of this|to this end|both of|none of|one of them"
)
_LOOKS_BACK_CJK = (
    "此外|另外|然而|但是|但|因此|所以|于是|於是|同时|同時|其中|其次|再次|最后|最後|而且|并且|並且|可是|不过|不過|他|她|它|"
    "这|這|那|该|該|此|其|上述|然后|然後|反之|相反|由此|对此|對此|为此|為此|しかし|また|そして|これ|それ|その|この"
)


class Cue(IntFlag):
    """Marks of a sentence."""

    CONCLUDES = 1
    """It says what follows from the rest: "in conclusion", "taken together", 综上所述."""
    FINDS = 2
    """It reports what was found or held: "we show", "the results suggest", "the court finds", 结果表明."""
    AIMS = 4
    """It says what the text is about: "this study", "the aim of", "here we propose", 本文."""
    STRESSES = 8
    """It says that something matters: "importantly", "the main", "significantly", 重要的是."""
    POINTS = 16
    """It points at a figure, a table or another place: "see Table 2", 如图."""
    CITES = 32
    """It cites: "[12]", "(Ode et al., 2004)"."""
    DANGLES = 64
    """It begins with a reference to what came before: "This shows", "He therefore", "However,", 此外."""


_PATTERNS = {
    Cue.CONCLUDES: (
        r"\b(?:in (?:conclusion|summary|sum|short|brief)|to (?:conclude|sum up|summari[sz]e)|"
        r"(?:we|I) (?:therefore |thus )?conclude|concluded? that|conclusions?\b|overall,|"
        r"taken together|all in all|altogether,|collectively,|"
        r"on the whole|in essence|the upshot|it is (?:so )?(?:ordered|held|recommended|resolved))"
        r"|综上所述|總而言之|总而言之|总之|總之|综上|由此可见|由此可見|结论|結論|判决如下|判決如下|以上より"
    ),
    Cue.FINDS: (
        rf"\b(?:we|I|they|authors?|court|committee|panel|commission|tribunal|jury|board) (?:\w+ ){{0,2}}{_FOUND}\b"
        rf"|\b(?:results?|findings?|data|evidence|observations?|experiments?|{_NOUNS}) (?:\w+ ){{0,3}}{_FOUND}\b"
        r"|\b(?:suggest|indicate|demonstrate|reveal|impl|conclude|hold|held|found|show)(?:s|ed|y|ies|ing)? that\b"
        r"|(?:结果|結果|研究|数据|数据|數據|分析|调查|調查|实验|實驗)(?:表明|显示|顯示|说明|說明|发现|發現|证明|證明)"
        r"|我们(?:发现|认为|证明)|我們(?:發現|認為|證明)|本院认为|本院認為|经审理查明|經審理查明"
    ),
    Cue.AIMS: (
        rf"\b(?:this|the present|the current|our|these) {_NOUNS}\b|\bhere,? (?:we|I)\b|\bin this {_NOUNS}\b"
        r"|\b(?:the|our|main|primary|its) (?:aim|goal|purpose|objective|question|hypothesis)s?\b"
        rf"|\b(?:we|I) (?:\w+ ){{0,2}}{_DID}\b|\bis (?:about|devoted to|concerned with)\b"
        r"|本文|本研究|本报告|本報告|本章|本书|本書|旨在|目的是"
    ),
    Cue.STRESSES: (
        r"\b(?:important(?:ly)?|significant(?:ly)?|notabl[ey]|strikingly|remarkabl[ey]|crucial(?:ly)?|essential(?:ly)?|"
        r"critical(?:ly)?|novel|key|main(?:ly)?|major|central|fundamental(?:ly)?|for the first time|above all|"
        r"surprisingly|interestingly|chiefly|principal(?:ly)?)\b"
        r"|重要|关键|關鍵|显著|顯著|主要|首次|尤其|核心"
    ),
    Cue.POINTS: (
        r"\b(?:Fig(?:ure|\.)?s?|Tables?|Tab\.|Eqs?\.?|Equations?|Appendix|Supplementary|Box|Panel|Scheme|Text|Exhibit)"
        r"\.?\s*[\(S]?[A-Z]?\d|\b(?:see|shown|listed|given|described|illustrated|depicted) "
        r"(?:in|above|below|the following)\b|\bas follows\b|[如见見][图圖表]|图\s*\d|圖\s*\d|表\s*\d|[（(]见"
    ),
    Cue.CITES: r"\[\d+(?:[\]\-–,;]| ?\[)|\bet al\b|\(\w[^()]{2,60},? (?:1[89]|20)\d\d[a-z]?\)|\bibid\b|\bop\. cit\b",
    Cue.DANGLES: (rf"\A[\W_]*(?:(?:{_LOOKS_BACK})\b(?!(?: present| current)? {_NOUNS}\b)|(?:{_LOOKS_BACK_CJK}))"),
}
_CASED = {Cue.POINTS}
_COMPILED = [
    (int(cue), re.compile(pattern, 0 if cue in _CASED else re.IGNORECASE)) for cue, pattern in _PATTERNS.items()
]

_DANGLES = next(pattern for cue, pattern in _COMPILED if cue == Cue.DANGLES)


def cues(text: str) -> int:
    """The marks of a sentence, as the bits of `Cue`; where its lines end does not matter."""
    found, text = 0, " ".join(text.split())
    for cue, pattern in _COMPILED:
        if pattern.search(text):
            found |= cue
    return found


def dangles(text: str) -> bool:
    """Whether a sentence begins with a reference to something before it."""
    return _DANGLES.search(" ".join(text.split())) is not None
