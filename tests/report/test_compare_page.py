"""The story of a comparison is true to its figures, whatever these are."""

import re
from dataclasses import replace

import pytest
from compared import BITS, DISTANCES, FACTORS, RIGHT, learned, result

from longseq.report.compare import compare_text, percent, size
from longseq.report.compare_page import compare_page
from longseq.report.compare_page.looking_back import fall
from longseq.report.plots.compare import save_compare
from longseq.results.compare import ADDITION, BASES, Cost, Reach


def words(found):
    """What a reader sees."""
    page = "".join(compare_page(found))
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.S)
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", body))


def changed(found, model, task, **figures):
    same = [learned(model, task, **figures) if (o.model, o.task) == (model, task) else o for o in found.learned]
    return replace(found, learned=same)


def test_all_models_on_both_tasks():
    page = "".join(compare_page(result()))
    for place in ("gradients", "costs", "learning-addition", "learning-bases"):
        (figure,) = re.findall(f'<figure id="{place}".*?</figure>', page, flags=re.S)
        assert all(f'"name":"{model}"' in figure and f">{model}<" in figure for model in FACTORS)


def test_an_exponential_is_told_from_a_power():
    made = {"rnn": [0.7**d for d in DISTANCES], "softmax": [1 / d for d in DISTANCES], "linear": [1.0] * 8}
    falls = {name: fall(Reach(distances=DISTANCES, initial=(), trained=tuple(y))) for name, y in made.items()}
    assert falls["rnn"].exponential and falls["rnn"].factor == pytest.approx(0.7)
    assert not falls["softmax"].exponential and not falls["linear"].exponential


def test_gradients_in_words():
    told = words(result())
    assert "every token back multiplies it by about 0.50" in told
    assert f"64 tokens back {0.5**63:.2g} is left of the last token" in told
    assert "lstm keeps more than 10¹⁶ times what rnn does" in told and "gru no more" in told
    assert "Here rnn, lstm and gru fall exponentially." in told
    worse = words(changed(result(), "lstm", BASES, factor=0.5))
    assert "in this run no more than in rnn" in worse


def test_what_remembering_costs():
    told = words(result())
    assert "The price is that the state grows: 72 kB after 64 tokens, 4.1 MB after 4,096" in told
    assert "Behind 4,096 tokens linear is faster by the token, 4.5 times." in told
    assert "softmax has the larger one from 8 tokens on." in told  # 8,000 bytes against 1,002 a token
    slow = result()
    rows = slow.cost("linear").rows
    late = Cost(model="linear", rows=(rows[0], replace(rows[1], token_ms=20.0)))
    slow = replace(slow, costs=[late if c.model == "linear" else c for c in slow.costs])
    assert "linear is not faster by the token yet" in words(slow)


def test_who_has_learned_to_add():
    told = words(result())
    assert "99% and more were right from step 20 on in rnn and from step 20 on in gru" in told
    assert "lstm has not learned to add in these steps" in told
    assert "even a net without gates can learn it" in told
    failed = result()
    for model in FACTORS:
        failed = changed(failed, model, ADDITION, right=0.05)
    told = words(failed)
    assert "rnn, lstm, gru, softmax and linear have not learned to add" in told and "were right from" not in told
    assert "even a net without gates can learn it" not in told


def test_who_foretells_bases():
    told = words(result())
    assert "linear is ahead with 1.920 bits a base; lstm ends at 1.951" in told
    assert "has 1.935: softmax and linear are better" in told
    worse = result()
    for model in FACTORS:
        worse = changed(worse, model, BASES, bits=1.95)
    told = words(worse)
    assert "all lie within 0.005 bits" in told and "no model is better yet" in told
    assert "For that a net that forgets is enough" in words(changed(result(), "rnn", BASES, bits=1.8))
    assert "For that a net that forgets" not in told
    over = result()
    for model in FACTORS:
        over = changed(over, model, BASES, bits=2.3)
    assert "saves" not in words(over)


@pytest.mark.parametrize("models", [("rnn",), ("softmax",), ("gated", "delta"), ("lstm", "linear")])
@pytest.mark.parametrize("task", [ADDITION, BASES])
def test_any_choice_makes_a_page(models, task):
    for name in models:
        for table in (FACTORS, RIGHT, BITS):
            table.setdefault(name, table["linear"])
    found = result(models=models, tasks=(task,))
    told = words(found)
    assert ("Softmax attention: nothing" in told) == ("softmax" in models)
    assert ("Recurrent nets: one" in told) == bool({"rnn", "lstm"} & {*models})
    assert "None" not in told and "nan" not in told.lower().split()
    assert models[0] in compare_text(found)


def test_times_are_told_of_a_quiet_machine_alone():
    slow = replace(learned("softmax", ADDITION), seconds=30.0)
    found = result()
    found = replace(found, learned=[slow if (o.model, o.task) == ("softmax", ADDITION) else o for o in found.learned])
    assert "softmax 30 s, 4 times as long" in words(found)
    loud = replace(found, machine=replace(found.machine, load_before=5.0))
    assert "30 s, 4 times" not in words(loud) and "had other work to do (load 5.0" in words(loud)


def test_text_from_inputs_is_text():
    page = "".join(compare_page(result(data='<b onclick="x()">')))
    assert "<b onclick" not in page and "&lt;b onclick" in page


def test_the_same_result_is_the_same_bytes(tmp_path):
    assert list(compare_page(result())) == list(compare_page(result()))
    for name in ("a", "b"):
        save_compare(tmp_path / name, ("svg",), result(models=("rnn", "linear"), tasks=(BASES,)))
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("a", "b"))
    assert first == second and len(first) == 3


def test_numbers_in_words():
    assert (size(776), size(17_704), size(4_210_000)) == ("776 B", "17.7 kB", "4.21 MB")
    assert (percent(0.974), percent(0.9996), percent(0.006), percent(1.0)) == ("97.4%", "99.96%", "0.60%", "100.0%")
