"""What a section is for, by its title: to sum up, to open, to report, to weigh, to explain how, or the back matter."""

from __future__ import annotations

import re
from enum import IntEnum


class Role(IntEnum):
    """Of a section."""

    PLAIN = 0
    """Its title says nothing of that, or it has none."""
    SUMMARY = 1
    """Abstract, summary, highlights."""
    OPENING = 2
    """Introduction, background, purpose."""
    METHODS = 3
    """How it was done."""
    RESULTS = 4
    """What was found."""
    DISCUSSION = 5
    """What it means."""
    CONCLUSION = 6
    """What follows."""
    BACK = 7
    """References, acknowledgements, indexes, licences: never quoted where there is anything else."""


_NUMBER = r"(?:[\dIVXivx]+(?:\.\d+)*[.):]?\s+|第?[一二三四五六七八九十]+[、章节節.]\s*)?"
_TITLES = {
    Role.BACK: (
        r"(?:references?|bibliography|works cited|literature cited|further reading|citations|acknowledge?ments?|index|"
        r"glossary|contents|table of contents|list of (?:figures|tables|abbreviations)|abbreviations|colophon|"
        r"(?:supporting|supplementary|supplemental|additional) (?:information|materials?|data|files?|figures)|"
        r"(?:author|authors['’]?) (?:contributions?|information|details|affiliations?)|"
        r"funding(?: (?:statement|sources?))?|"
        r"(?:data|code) availability(?: statement)?|(?:competing|conflicts?) (?:of )?interests?|disclosures?|"
        r"copyright(?: notice)?|licen[cs]e|legal notices?|certificate of service|end ?notes|foot ?notes|"
        r"about the authors?|publisher['’]s note)\b"
        r"|(?:参考文献|參考文獻|参考资料|參考資料|致谢|致謝|鸣谢|附录|附錄|目录|目錄|索引|版权|版權|谢辞|謝辞|引用文献)"
    ),
    Role.SUMMARY: (
        r"(?:(?:\w+ )?(?:abstract|summary)|synopsis|executive summary|highlights|key (?:points|findings|messages)|"
        r"at a glance|overview|précis|tl;?dr)\b|摘要|提要|概要|概述|内容提要|要約"
    ),
    Role.CONCLUSION: (
        r"(?:conclusions?|concluding (?:remarks|comments)|summary and conclusions?|discussion and conclusions?|"
        r"closing remarks|final remarks|recommendations?|disposition|outlook)\b"
        r"|结论|結論|总结|總結|结语|結語|结束语|建议|建議|判决结果|おわりに|まとめ"
    ),
    Role.METHODS: (
        r"(?:(?:materials?|patients|subjects|participants) and )?(?:methods?|methodology|procedures?)\b|"
        r"(?:materials?|patients|subjects|participants) (?:and|&)|"
        r"(?:experimental|statistical|computational|analytical) (?:procedures?|methods?|design|analys[ie]s|details)|"
        r"(?:study|trial|survey) (?:design|population|area|sites?)|data (?:collection|sources?|sets?|analysis)|"
        r"apparatus|ethics(?: statement)?"
        r"|(?:研究)?方法|材料与方法|材料和方法|材料與方法|实验方法|數據來源|数据来源"
    ),
    Role.DISCUSSION: (
        r"(?:(?:general )?discussion|interpretation|implications|analysis|reasoning|limitations)\b"
        r"|讨论|討論|分析|本院认为|考察"
    ),
    Role.RESULTS: r"(?:results?|findings?|observations?|outcomes?|facts?)\b|结果|結果|发现|發現",
    Role.OPENING: (
        r"(?:introduction|background|preface|foreword|prologue|motivation|purpose|aims?|objectives?|scope|"
        r"statement of (?:the )?(?:case|problem|facts)|issues?)\b|引言|前言|绪论|緒論|导言|導言|背景|序言|はじめに|目的"
    ),
}
_ROLES = [
    (role, re.compile(rf"\s*{_NUMBER}(?:{titles})" + (r"\W*$" if role is Role.BACK else ""), re.I))
    for role, titles in _TITLES.items()
]


def role_of(path: str) -> Role:
    """Of a section whose titles are joined by ` > `: back matter wherever it appears, else the innermost that says."""
    found = Role.PLAIN
    for title in path.split(" > "):
        for role, pattern in _ROLES:
            if pattern.match(title):
                if role is Role.BACK:
                    return role
                found = role
                break
    return found
