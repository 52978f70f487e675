"""Scores of variants: the definition, both strands, equal rows, and reasons."""

import math

import numpy as np
import pytest
import torch
from variant_rows import CHROMOSOME, CONTEXT, FAULTY, OTHER, REASONED, at, row

from longseq.errors import InputError
from longseq.records import reverse_complement
from longseq.tasks.variants import VariantRequest, VariantRun, score_variants
from longseq.tasks.variants.alleles import trimmed


def answers(files, model, *rows, **options):
    return list(score_variants(*files(*rows), model=model, context=CONTEXT, **options))


def naive(model, start, ref, alt, sequence=CHROMOSOME):
    """The definition: whole windows in one forward, counted from the allele to the end, both strands."""

    def nats(window, first):
        ids = torch.from_numpy(model.surprisal.tokenizer.encode(window.encode())[0].astype(np.int64))[None]
        with torch.inference_mode():
            logits, _ = model.surprisal.checkpoint.language_model()(ids)
        log = torch.log_softmax(logits.double(), -1)[0].gather(1, ids[0, :, None])[:, 0]
        return float(log[first:].sum())

    left, right = sequence[max(start - CONTEXT, 0) : start], sequence[start + len(ref) :][:CONTEXT]
    turned = [reverse_complement(part.encode()).decode() for part in (right, ref, alt, left)]
    forward = nats(left + alt + right, len(left)) - nats(left + ref + right, len(left))
    before, old, new, after = turned
    reverse = nats(before + new + after, len(before)) - nats(before + old + after, len(before))
    return forward, reverse


@pytest.mark.parametrize(
    ("position", "ref", "alt"),
    [
        (150, at(150), OTHER[at(150)]),
        (1, at(1), OTHER[at(1)]),
        (300, at(300), OTHER[at(300)]),
        (10, at(10), OTHER[at(10)]),
        (100, at(100, 4), at(100)),
        (200, at(200), at(200) + "GATTACA"),
    ],
)
def test_definition(files, model, position, ref, alt):
    (answer,) = answers(files, model, row("NC_000001", position, ref, alt))
    (score,) = answer.alleles
    skipped, old, new = trimmed(ref, alt)
    forward, reverse = naive(model, position - 1 + skipped, old, new)
    assert abs(forward) > 1e-3
    assert [score.forward, score.reverse] == pytest.approx([forward, reverse], abs=2e-5)
    assert score.llr == pytest.approx((forward + reverse) / 2, abs=2e-5)
    assert score.reason == ("indel" if len(ref) != len(alt) else None)


def test_strands_mirror(files, model, tmp_path):
    """A variant, and the same one told of the reverse complement of its record."""
    ref, alt = at(120), OTHER[at(120)]
    (one,) = answers(files, model, row("NC_000001", 120, ref, alt))
    turned = tmp_path / "turned.fa"
    turned.write_text(">NC_000001\n" + reverse_complement(CHROMOSOME.encode()).decode() + "\n")
    there = [reverse_complement(x.encode()).decode() for x in (ref, alt)]
    table, _ = files(row("NC_000001", 301 - 120, *there))
    (two,) = score_variants(table, str(turned), model=model, context=CONTEXT)
    assert one.alleles[0].llr == two.alleles[0].llr
    assert one.alleles[0].forward == two.alleles[0].reverse != two.alleles[0].forward


def test_equal_changes_have_equal_scores_and_are_read_once(files, model):
    ref, alt = at(150), OTHER[at(150)]
    pair, long = at(150, 2), alt + at(151)
    table, reference = files(
        row("NC_000001", 150, ref, alt),
        row("NC_000001", 150, ref, alt),
        row("NC_000001", 150, pair, f"{long},{ref},*"),
        row("NC_000001", 150, ref.lower(), alt.lower()),
        row("NC_000001", 150, ref, ref),
    )
    with VariantRun(VariantRequest(variants=table, reference=reference, context=CONTEXT), model) as run:
        run.score()
        found = list(run.answers())
        assert run.windows == 4 + 4  # a change, a deletion; both strands
    first = found[0].alleles[0].llr
    assert [answer.alleles[0].llr for answer in found] == [first, first, first, first, None]
    assert [allele.reason for allele in found[2].alleles] == [None, "indel", "star"]


def test_what_has_no_number_has_a_reason(files, model):
    table = [*REASONED, *FAULTY]
    found = answers(files, model, *(line for line, _ in table), longest=50)
    assert [answer.alleles[0].reason for answer in found] == [reason for _, reason in table]
    assert all(allele.llr is None for answer in found for allele in answer.alleles)


def test_at_the_limit_an_allele_is_scored(files, model):
    (answer,) = answers(files, model, row("NC_000001", 5, at(5, 50), at(5)), longest=50)
    assert answer.alleles[0].reason == "indel" and answer.alleles[0].llr is not None
    assert answer.alleles[0].changed == 49


def test_a_code_in_the_reference_is_not_counted(files, model, tmp_path):
    alt = OTHER[at(150)]
    table, _ = files(*(row("c", 150, ref, alt) for ref in ("N", at(150))))
    reference = tmp_path / "n.fa"
    reference.write_text(f">c\n{CHROMOSOME[:149]}N{CHROMOSOME[150:]}\n")
    found = [answer.alleles[0] for answer in score_variants(table, str(reference), model=model, context=CONTEXT)]
    assert [score.reason for score in found] == ["code_in_ref", None]
    assert all(math.isfinite(score.llr) and score.llr != 0 for score in found)


def test_names_that_match_nothing_are_listed_from_both_sides(files, model):
    with pytest.raises(InputError, match=r"gi\|7\|.*elsewhere.*--alias"):
        answers(files, model, row("elsewhere", 5, "A", "C"))
    (answer,) = answers(
        files, model, row("elsewhere", 5, at(5), OTHER[at(5)]), alias=(("gi|7|ref|NC_000001.1|", "elsewhere"),)
    )
    assert answer.alleles[0].reason is None
