"""Extractors: which sentences a summary should want, learned from documents with references."""
