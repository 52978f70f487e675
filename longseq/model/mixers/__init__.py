"""Mixers: how tokens see one another. All keep one contract, and a new one is a class and a line here.

    y, state = mixer(x, state=None, mask=None, exchange=None)

x and y are (B, T, D); `mask` (B, T) is True where a token is valid, None where all are; `state` is what the tokens
before x left (None: nothing), a NamedTuple, the class's `state_type`, whose every tensor has B in front and none of
which keeps x alive; `exchange` joins processes that hold slices of the same records (None: alone). y is arbitrary, but
finite, where masked.

Attention mixers let queries, keys and values (B, H, T, ·) pass through a module `entering`, before any feature map, and
what each head has read (B, H, T, V) through `leaving`; neither changes anything. What looks at attention looks there.
"""

from longseq.model.mixers.delta import Delta, GatedDelta
from longseq.model.mixers.gated import Gated
from longseq.model.mixers.linear import Linear
from longseq.model.mixers.mlstm import MLstm
from longseq.model.mixers.recurrent import Gru, Lstm, Rnn
from longseq.model.mixers.retention import Retention
from longseq.model.mixers.softmax import Softmax
from longseq.model.mixers.window import Window

MIXERS = {
    "linear": Linear,
    "retention": Retention,
    "gated": Gated,
    "mlstm": MLstm,
    "delta": Delta,
    "gated_delta": GatedDelta,
    "softmax": Softmax,
    "window": Window,
    "gru": Gru,
    "lstm": Lstm,
    "rnn": Rnn,
}
WHOLE = ("softmax", "window", "gru", "lstm", "rnn")
"""Mixers that read a record whole, in one process: they have no state that slices side by side could be joined by."""
