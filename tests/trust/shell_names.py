"""Names that a shell would read more into."""

NAMES = (
    "$(touch ran)",
    "`touch ran`",
    "a;touch ran;",
    "a|touch ran",
    "a&touch ran&",
    "a\ntouch ran\n",
    "-x",
    "--help",
    "a b  c",
    "*",
    "~",
    "'\";touch ran;'\"",
    "a>ran",
    "${IFS}a$((1+1))",
    "%x{b}{{c}}",
)
