"""From a softmax teacher to its linear form: attention transfer, then distillation, on texts without labels."""

from longseq.training.transfer.config import DistilConfig, TextConfig, TransferConfig
from longseq.training.transfer.excluded import Excluded, read_excluded
from longseq.training.transfer.stages import DistilStage, Lesson, Stage, TransferStage
from longseq.training.transfer.teaching import Teacher
from longseq.training.transfer.texts import Texts, prepare

__all__ = [
    "DistilConfig",
    "DistilStage",
    "Excluded",
    "Lesson",
    "Stage",
    "Teacher",
    "TextConfig",
    "Texts",
    "TransferConfig",
    "TransferStage",
    "prepare",
    "read_excluded",
]
