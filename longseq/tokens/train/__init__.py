"""Tokenizers learned from records: pieces of text and of DNA by byte-pair encoding, characters or words of text.

(K-mers are counted out, not learned.)
"""

from longseq.tokens.train.config import Learning
from longseq.tokens.train.learn import Learned, learn
from longseq.tokens.train.units import END, UNKNOWN, counted, unit_tokenizer

__all__ = ["END", "UNKNOWN", "Learned", "Learning", "counted", "learn", "unit_tokenizer"]
