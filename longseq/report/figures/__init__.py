"""Interactive figures of a page: what is drawn, its place in the page, and the scripts that draw it."""
