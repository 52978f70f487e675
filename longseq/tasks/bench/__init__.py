"""Speed and memory against length, on this machine, beside softmax attention and recurrent nets of equal size."""
