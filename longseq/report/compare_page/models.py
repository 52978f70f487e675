"""What each mixer is, in a sentence and a formula, and who wrote of it first."""

from __future__ import annotations

from dataclasses import dataclass

from longseq.report.compare_page.mathml import Formula, formula, frac, of, op, power, row, sub, sum_, sup, word
from longseq.report.page import Markup

RECURRENT, GATED_NETS = ("rnn",), ("lstm", "gru")
ATTENTION = ("softmax", "window")
LINEAR = ("linear", "retention", "gated", "mlstm", "delta", "gated_delta")


@dataclass(frozen=True, kw_only=True)
class Model:
    called: str
    what: str
    """How it reads."""
    source: str
    """Key of `SOURCES`."""


MODELS = {
    "rnn": Model(called="vanilla recurrent net", what="one vector, made anew with every token", source="elman"),
    "lstm": Model(called="LSTM", what="a second vector beside it, which gates let in, keep and let out", source="lstm"),
    "gru": Model(called="GRU", what="one vector, and two gates that say how much of it is replaced", source="gru"),
    "softmax": Model(
        called="Transformer", what="looks back at all earlier tokens and weighs them by a softmax", source="transformer"
    ),
    "window": Model(called="window attention", what="a softmax over the last tokens only", source="transformer"),
    "linear": Model(
        called="linear attention",
        what="weighs earlier tokens by products of features, summed in a matrix",
        source="linear",
    ),
    "retention": Model(called="retention", what="such a matrix, which fades at fixed rates", source="retention"),
    "gated": Model(
        called="gated linear attention", what="such a matrix, which fades as each token says", source="gated"
    ),
    "mlstm": Model(called="mLSTM", what="such a matrix, with the gates of an LSTM", source="xlstm"),
    "delta": Model(called="delta rule", what="such a matrix, in which a key's old value is replaced", source="delta"),
    "gated_delta": Model(
        called="gated delta rule", what="such a matrix, replaced by key and fading", source="gated_delta"
    ),
}

SOURCES = {
    "elman": "J. L. Elman: Finding structure in time. Cognitive Science 14, 1990.",
    "bengio": "Y. Bengio, P. Simard, P. Frasconi: Learning long-term dependencies with gradient descent is difficult. "
    "IEEE Transactions on Neural Networks 5, 1994.",
    "lstm": "S. Hochreiter, J. Schmidhuber: Long short-term memory. Neural Computation 9, 1997; with the forget"
    " gate of "
    "F. A. Gers, J. Schmidhuber, F. Cummins, Neural Computation 12, 2000.",
    "gru": "K. Cho et al.: Learning phrase representations using RNN encoder-decoder for statistical machine "
    "translation. EMNLP 2014.",
    "transformer": "A. Vaswani et al.: Attention is all you need. NeurIPS 2017.",
    "linear": "A. Katharopoulos, A. Vyas, N. Pappas, F. Fleuret: Transformers are RNNs: fast autoregressive"
    " Transformers "
    "with linear attention. ICML 2020.",
    "retention": "Y. Sun et al.: Retentive network: a successor to Transformer for large language models. 2023.",
    "gated": "S. Yang, B. Wang, Y. Shen, R. Panda, Y. Kim: Gated linear attention Transformers with hardware-efficient "
    "training. ICML 2024.",
    "xlstm": "M. Beck et al.: xLSTM: extended long short-term memory. NeurIPS 2024.",
    "delta": "S. Yang, B. Wang, Y. Zhang, Y. Shen, Y. Kim: Parallelizing linear Transformers with the delta rule over "
    "sequence length. NeurIPS 2024.",
    "gated_delta": "S. Yang, J. Kautz, A. Hatamizadeh: Gated delta networks: improving Mamba2 with delta rule."
    " ICLR 2025.",
}
ALWAYS = ("bengio", "lstm", "gru", "transformer", "linear")
"""Sources that the story itself leans on."""


def _h(when: str) -> Formula:
    return sub("h", when)


def recurrent() -> Markup:
    """h_t = tanh(W x_t + U h_{t-1})."""
    inside = row("W", sub("x", "t"), op("+"), "U", _h("t-1"))
    return formula(row(_h("t"), op("="), word("tanh"), of(inside)), "h t equals tanh of W x t plus U h t minus 1")


def gated_net() -> Markup:
    """c_t = f_t c_{t-1} + i_t z_t: the cell of an LSTM."""
    kept = row(sub("f", "t"), op("⊙"), sub("c", "t-1"))
    new = row(sub("i", "t"), op("⊙"), sub("z", "t"))
    return formula(
        row(sub("c", "t"), op("="), kept, op("+"), new), "c t equals f t times c t minus 1 plus i t times z t"
    )


def softmax() -> Markup:
    """y_t = Σ_s exp(q_t·k_s) v_s / Σ_s exp(q_t·k_s)."""
    weight = power("e", row(sup_t("q"), sub("k", "s")))
    top, bottom = row(sum_("s≤t"), weight, sub("v", "s")), row(sum_("s≤t"), weight)
    words = "y t equals the sum over s of e to the q t k s times v s, over the sum of the same weights"
    return formula(row(sub("y", "t"), op("="), frac(top, bottom)), words)


def linear_parallel() -> Markup:
    """The same with φ(q)·φ(k) in the place of exp(q·k), and the query outside of the sums."""
    q = row("φ", of(sub("q", "t")))
    top = row(sup(q, "⊤"), sum_("s≤t"), "φ", of(sub("k", "s")), sup(sub("v", "s"), "⊤"))
    bottom = row(sup(q, "⊤"), sum_("s≤t"), "φ", of(sub("k", "s")))
    words = (
        "y t equals phi of q t times the sum over s of phi of k s times v s, over phi of q t times the sum of phi k s"
    )
    return formula(row(sub("y", "t"), op("="), frac(top, bottom)), words)


def linear_recurrent() -> Markup:
    """S_t = S_{t-1} + φ(k_t) v_tᵀ, z_t = z_{t-1} + φ(k_t), y_t = φ(q_t)ᵀ S_t / φ(q_t)ᵀ z_t."""
    key, query = row("φ", of(sub("k", "t"))), sup(row("φ", of(sub("q", "t"))), "⊤")
    matrix = row(sub("S", "t"), op("="), sub("S", "t-1"), op("+"), key, sup(sub("v", "t"), "⊤"))
    vector = row(sub("z", "t"), op("="), sub("z", "t-1"), op("+"), key)
    read = row(sub("y", "t"), op("="), frac(row(query, sub("S", "t")), row(query, sub("z", "t"))))
    words = "S t is S t minus 1 plus phi k t v t; z t is z t minus 1 plus phi k t; y t is phi q t S t over phi q t z t"
    return formula(row(matrix, op(","), vector, op(","), read), words)


def gated_recurrent() -> Markup:
    """S_t = diag(a_t) S_{t-1} + k_t v_tᵀ."""
    faded = row(word("diag"), of(sub("a", "t")), sub("S", "t-1"))
    new = row("φ", of(sub("k", "t")), sup(sub("v", "t"), "⊤"))
    words = "S t equals a t times S t minus 1 plus phi of k t times v t"
    return formula(row(sub("S", "t"), op("="), faded, op("+"), new), words)


def sup_t(letter: str) -> Formula:
    """The transpose of a letter at time t."""
    return sup(sub(letter, "t"), "⊤")
