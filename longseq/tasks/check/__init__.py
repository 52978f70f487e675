"""The laws of the method, tried on a model, on this machine and device. One law or family a file."""
