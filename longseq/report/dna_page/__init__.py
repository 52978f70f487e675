"""The part of DNA on `report.html`: totals, lengths, tracks along records, composition, embeddings, surprises."""
