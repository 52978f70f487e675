"""`verify`: every quoted sentence still stands where the summary says, or why it does not."""

from longseq.tasks.verify.run import verify_summary

__all__ = ["verify_summary"]
