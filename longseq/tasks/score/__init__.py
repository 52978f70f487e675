"""`score`: what each token of a record costs under a model, and what a record costs in all."""
