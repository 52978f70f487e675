"""The guard of the tests refuses what it should, here and in children, and lets this machine talk to itself."""

import socket
import subprocess
import sys
import threading

import pytest
from offline_guard import ReachedOutError

CHILD = "import socket\ntry:\n    {}\nexcept AssertionError as error:\n    print(type(error).__name__)"
OUT = {
    "name": "socket.getaddrinfo('example.org', 80)",
    "host": "socket.gethostbyname('example.org')",
    "v4": "socket.create_connection(('192.0.2.1', 80), 1)",
    "v6": "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))",
    "datagram": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'a', ('192.0.2.1', 53))",
}


@pytest.mark.parametrize("line", OUT.values(), ids=OUT)
def test_nothing_leaves_this_machine(line):
    with pytest.raises(ReachedOutError, match="tests use no network"):
        exec(line, {"socket": socket})


def test_nor_from_a_child_or_a_grandchild():
    code = CHILD.format(OUT["v4"])
    again = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    for one in (code, again):
        done = subprocess.run([sys.executable, "-c", one], capture_output=True, text=True, check=False)
        assert done.stdout == "ReachedOutError\n", done.stderr


def test_this_machine_talks_to_itself(tmp_path):
    for family, place in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, str(tmp_path / "s"))):
        with socket.socket(family) as server, socket.socket(family) as client:
            server.bind(place)
            server.listen()
            taken = threading.Thread(target=lambda server=server: server.accept()[0].close())
            taken.start()
            client.connect(server.getsockname())
            taken.join()
    assert socket.getaddrinfo("localhost", 80)
