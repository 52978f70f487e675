"""Plain, mergeable results: what tasks make and reports show. No result knows how it was computed."""
