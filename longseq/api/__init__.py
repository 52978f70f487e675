"""What Python calls: a function a verb, each by its name in `longseq`, which fetches it when it is first used."""
