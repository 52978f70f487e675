"""`annotate`: a class for each base of a record, the intervals of it, and genes from open reading frames."""
