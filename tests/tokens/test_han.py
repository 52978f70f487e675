"""Traditional characters as simplified ones."""

from longseq.tokens.han import _SIMPLIFIED, _TRADITIONAL, simplified


def test_both_forms_become_one():
    assert simplified("守塔者三人，風暴之夜，漁船離開海灣。") == "守塔者三人，风暴之夜，渔船离开海湾。"
    assert simplified("裡裏為爲說説") == "里里为为说说"
    assert simplified("Lamp 灯塔 é") == "Lamp 灯塔 é"


def test_the_table_is_one_to_one_and_done_in_one_step():
    assert len(_TRADITIONAL) == len(_SIMPLIFIED) == len(set(_TRADITIONAL)) > 1200
    assert not set(_TRADITIONAL) & set(_SIMPLIFIED)
