"""Trained softmax Transformers of other libraries, read into our encoder: weights one to one, the mixer kept; and their
linear form."""

from longseq.model.teachers.hugging_face import read_directory
from longseq.model.teachers.linear import linear_form
from longseq.model.teachers.teacher import Teacher
from longseq.model.teachers.torch_encoder import Shape, read_torch_encoder

__all__ = ["Shape", "Teacher", "linear_form", "read_directory", "read_torch_encoder"]
