"""From a softmax teacher to its linear form: attention transfer, then distillation; and its memory opened.

All on texts without labels."""

from longseq.training.transfer.config import DistilConfig, OpeningConfig, ReadConfig, TextConfig, TransferConfig
from longseq.training.transfer.excluded import Excluded, excluded_texts, read_excluded
from longseq.training.transfer.opened import OpeningStage, Reading
from longseq.training.transfer.pages import Shape
from longseq.training.transfer.stages import DistilStage, Lesson, Stage, TransferStage
from longseq.training.transfer.teaching import Teacher
from longseq.training.transfer.texts import Texts, prepare

__all__ = [
    "DistilConfig",
    "DistilStage",
    "Excluded",
    "Lesson",
    "OpeningConfig",
    "OpeningStage",
    "ReadConfig",
    "Reading",
    "Shape",
    "Stage",
    "Teacher",
    "TextConfig",
    "Texts",
    "TransferConfig",
    "TransferStage",
    "excluded_texts",
    "prepare",
    "read_excluded",
]
