"""The mathematics: feature maps, linear attention, memory arithmetic, short convolution, exchange between processes."""
