"""Pictures for papers and screens, as PNG and SVG: the same bytes for the same figures and version of matplotlib."""
