"""No test reaches a network: what asks for a name or for another machine is refused, in tests and in their children.

`refuse()` does it for this process by an audit hook, which costs nothing but where a socket is used. A child gets it by
`sitecustomize.py` in a folder that `environment` puts on its PYTHONPATH, the one that would have been found next
included. Sockets of this machine alone (UNIX sockets, loopback) are let through.
"""

import ipaddress
import os
import sys
from pathlib import Path

FOLDER = Path(__file__).with_name("no_network")
NAMES = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo")
PLACES = ("socket.connect", "socket.sendto", "socket.bind", "socket.sendmsg")
HERE = ("", "localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")


class ReachedOutError(AssertionError):
    """A test asked for the network."""


def is_here(host: object) -> bool:
    """Whether it is this machine, said by its name or by an address of its own."""
    import socket

    name = host.decode() if isinstance(host, bytes) else host
    if name is None or name in HERE or name == socket.gethostname():
        return True
    try:
        address = ipaddress.ip_address(str(name).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _look(event: str, arguments: tuple) -> None:
    if not event.startswith("socket."):
        return
    if event in NAMES:
        host = arguments[0][0] if isinstance(arguments[0], tuple) else arguments[0]
    elif event in PLACES:
        address = arguments[1]
        if not isinstance(address, tuple):  # of a UNIX socket it is a path; None where it is connected already
            return
        host = address[0]
        if not isinstance(host, str):  # netlink and the like: numbers
            return
    else:
        return
    if not is_here(host):
        raise ReachedOutError(f"{event} of {host!r}: tests use no network")


def refuse() -> None:
    """From now on, for good: an audit hook cannot be taken away."""
    if not getattr(sys, "_longseq_refuses", False):
        sys._longseq_refuses = True
        sys.addaudithook(_look)


def without() -> dict[str, str]:
    """The environment of a child that may use the network: one that gathers packages."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path != str(FOLDER))}


def environment() -> None:
    """Have children refuse as well."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(FOLDER) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(FOLDER), *filter(None, paths)])
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
