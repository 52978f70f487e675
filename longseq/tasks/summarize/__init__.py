"""`summarize`: what is in a file, is it sane, how is it structured, where to look."""
