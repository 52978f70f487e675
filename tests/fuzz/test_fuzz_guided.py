"""A minute of coverage-guided fuzzing for every reader."""

import subprocess
import sys
from pathlib import Path

import pytest
from targets import TARGETS

pytestmark = pytest.mark.slow


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", TARGETS)
def test_a_minute_of_each_reader(name, tmp_path):
    pytest.importorskip("atheris", reason="needs the extra fuzz")
    script = Path(__file__).with_name("guided.py")
    run = [sys.executable, script, name, "--seconds", "60", "--found", tmp_path / "found"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert not [*(tmp_path / "found" / name).iterdir()]
