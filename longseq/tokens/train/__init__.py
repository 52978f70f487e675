"""Tokenizers learned from records: byte-pair encoding of text and of DNA. (K-mers are counted out, not learned.)"""

from longseq.tokens.train.config import Learning
from longseq.tokens.train.learn import END, Learned, learn

__all__ = ["END", "Learned", "Learning", "learn"]
