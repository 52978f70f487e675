"""The names of `longseq`: fetched when they are used, listed, explained, typed."""

import inspect
import resource
import subprocess
import sys
from importlib import resources

import pytest

import longseq
from longseq.cli import group

FUNCTIONS = [name for name in longseq.__all__ if inspect.isfunction(getattr(longseq, name))]


def test_importing_wakes_nothing_and_costs_hardly_more_than_starting():
    def seconds(code):
        best = float("inf")
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return best

    assert seconds("import longseq, sys; assert not {'numpy', 'torch', 'rich'} & {*sys.modules}") < 2 * seconds("pass")


def test_counting_letters_wakes_no_torch(tmp_path):
    (tmp_path / "x.fa").write_text(">a\nACGT\n")
    code = f"import longseq, sys; print(len(longseq.summarize({str(tmp_path)!r}, model=None)), 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "1 False\n"


@pytest.mark.parametrize("name", longseq.__all__)
def test_each_name_is_listed_and_says_what_it_is(name):
    assert name in dir(longseq)
    assert name == "__version__" or inspect.getdoc(getattr(longseq, name))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_says_what_it_takes_and_what_goes_wrong(name):
    function = getattr(longseq, name)
    said = inspect.getdoc(function)
    assert "Raises:" in said
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty
        assert parameter.name in said, f"{name} does not explain {parameter.name}"


def test_a_name_it_has_not_is_refused_with_those_it_has():
    with pytest.raises(AttributeError, match=r"no attribute 'sumarize'; it has .*summarize"):
        longseq.sumarize  # noqa: B018


def test_it_is_typed():
    assert resources.files(longseq).joinpath("py.typed").is_file()


@pytest.mark.parametrize("name", ["summarize", "classify", "annotate", "embed", "score"])
def test_arguments_are_called_as_the_options_of_the_command(name):
    names = {"queries": "query", "wanted": "genes"}
    options = {names.get(one.name, one.name) for one in group.get_command(None, name).params}
    assert {*inspect.signature(getattr(longseq, name)).parameters} <= options | {"progress"}
