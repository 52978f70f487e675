"""What pages and pictures show of the records of a run, gathered as they pass, in a size that hardly grows."""
