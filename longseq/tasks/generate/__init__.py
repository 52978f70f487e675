"""`generate`: what comes next, drawn token by token from a language model, in constant memory."""

from longseq.tasks.generate.generator import Generator, Token
from longseq.tasks.generate.run import generated, prompt, sources
from longseq.tasks.generate.sampling import Sampling

__all__ = ["Generator", "Sampling", "Token", "generated", "prompt", "sources"]
