"""Books of any length whose class shows in one chapter only, in English and in Chinese: made up, from a seed.

Chapters tell of everyday life in short sentences; every other sentence of one of them tells of a voyage, or of a trial.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

CLASSES = ("voyage", "trial")
CHAPTER = 2_500
"""Tokens of a chapter, about."""
APART = 8_192
"""Tokens before which no book says anything of its class."""


class Book(NamedTuple):
    text: str
    label: str
    start: int
    """First letter of the chapter that tells."""
    end: int


WORDS = {
    "en": {
        "who": ["Anna", "Mr. Hale", "the baker", "my aunt", "Peter", "the neighbour", "old Martha", "the teacher",
                "a child", "the gardener", "her brother", "the postman"],
        "did": ["carried", "found", "washed", "sold", "mended", "forgot", "counted", "painted", "kept", "lent"],
        "what": ["the basket", "a chair", "two loaves", "the lamp", "a letter", "the kettle", "some pears", "the clock",
                 "a coat", "the fence", "three books", "the curtains"],
        "where": ["in the kitchen", "by the gate", "at the market", "near the church", "behind the house",
                  "in the garden", "on the stairs", "at the station"],
        "when": ["in the morning", "after supper", "on Sunday", "before the rain", "last winter", "at noon",
                 "towards evening", "that year"],
    },
    "zh": {
        "who": ["小梅", "王先生", "面包师", "姑妈", "老李", "邻居", "外婆", "老师", "孩子", "园丁", "她的哥哥", "邮差"],
        "did": ["搬走了", "找到了", "洗净了", "卖掉了", "修好了", "忘记了", "数过了", "刷好了", "收起了", "借来了"],
        "what": ["篮子", "一把椅子", "两条面包", "那盏灯", "一封信", "水壶", "几个苹果", "时钟", "一件大衣", "篱笆",
                 "三本书", "窗帘"],
        "where": ["在厨房里", "在门口", "在集市上", "在教堂旁", "在屋后", "在花园里", "在楼梯上", "在车站"],
        "when": ["早晨", "晚饭后", "星期天", "下雨之前", "去年冬天", "中午", "傍晚", "那一年"],
    },
}  # fmt: skip
THEMES = {
    "en": {
        "voyage": {
            "who": ["the captain", "the helmsman", "a sailor", "the mate", "the pilot", "the crew"],
            "did": ["hoisted", "reefed", "sighted", "steered past", "anchored beside", "hauled in"],
            "what": ["the mainsail", "the reef", "a lighthouse", "the anchor", "the island", "the nets"],
            "where": ["off the cape", "in the harbour", "on the quarterdeck", "in heavy seas", "under the lee shore"],
            "when": ["at high tide", "during the storm", "on the third watch", "with the trade wind"],
        },
        "trial": {
            "who": ["the judge", "the prosecutor", "a witness", "the jury", "the clerk", "the defendant"],
            "did": ["read out", "denied", "sustained", "swore to", "appealed", "examined"],
            "what": ["the verdict", "the charge", "an objection", "the testimony", "the sentence", "the warrant"],
            "where": ["in the courtroom", "before the bench", "in the witness box", "at the assizes", "in the cells"],
            "when": ["at the hearing", "under oath", "after the adjournment", "on the day of judgment"],
        },
    },
    "zh": {
        "voyage": {
            "who": ["船长", "舵手", "水手", "大副", "领航员", "全体船员"],
            "did": ["升起了", "绕过了", "望见了", "驶过了", "停靠在", "收起了"],
            "what": ["主帆", "暗礁", "灯塔", "铁锚", "海岛", "渔网"],
            "where": ["在海角外", "在港湾里", "在甲板上", "在巨浪中", "在岸边的避风处"],
            "when": ["涨潮时", "暴风雨中", "夜班值更时", "顺着信风"],
        },
        "trial": {
            "who": ["法官", "检察官", "证人", "陪审团", "书记员", "被告人"],
            "did": ["宣读了", "否认了", "驳回了", "证实了", "上诉反对", "审查了"],
            "what": ["判决书", "指控", "异议", "证词", "刑期", "逮捕令"],
            "where": ["在法庭上", "在审判席前", "在证人席上", "在巡回法院", "在拘留所里"],
            "when": ["开庭时", "宣誓之后", "休庭之后", "宣判那天"],
        },
    },
}


def book(language: str, label: str, draw: np.random.Generator, tokens: int, count: Callable[[str], int]) -> Book:
    """A book of at least so many tokens, as `count` counts them; the chapter that tells is drawn from all that begin
    after the first `APART`."""
    chapters, lengths = list[str](), list[int]()
    while sum(lengths) < tokens:
        number = len(chapters) + 1
        chapters.append(chapter(language, None, number, draw, count))
        lengths.append(count(chapters[-1]))
    first = int(np.searchsorted(np.cumsum(lengths), APART)) + 1
    chosen = int(draw.integers(first, len(chapters)))
    chapters[chosen] = chapter(language, label, chosen + 1, draw, count)
    start = sum(map(len, chapters[:chosen]))
    return Book("".join(chapters), label, start, start + len(chapters[chosen]))


def chapter(
    language: str, label: str | None, number: int, draw: np.random.Generator, count: Callable[[str], int]
) -> str:
    head = f"Chapter {number}" if language == "en" else f"第{number}章"
    parts, read = [head], 0
    while read < CHAPTER:
        told = [sentence(language, label if i % 2 else None, draw) for i in range(10)]
        parts.append((" " if language == "en" else "").join(told))
        read += count(parts[-1])
    return "\n\n".join(parts) + "\n\n"


def sentence(language: str, label: str | None, draw: np.random.Generator) -> str:
    words = WORDS[language] if label is None else THEMES[language][label]
    who, did, what, where, when = (words[name][draw.integers(len(words[name]))] for name in words)
    if language == "zh":
        return f"{when}，{who}{where}{did}{what}。"
    order = f"{who} {did} {what} {where} {when}." if draw.integers(2) else f"{when}, {who} {did} {what} {where}."
    return order[0].upper() + order[1:]
