"""Documents: their sentences, which of them stand for the whole, and where each one stands."""
