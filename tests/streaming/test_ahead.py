"""Reading ahead: the same items, bounded, errors with their traceback, and no thread left."""

import threading
import time
import traceback

import pytest

from longseq.errors import InputError
from longseq.streaming import ahead, records_ahead


@pytest.fixture(autouse=True)
def no_thread_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


class Source:
    """Counts up; knows how far it was walked, by whom, and whether it was closed."""

    def __init__(self, end: int):
        self.end, self.given, self.closed, self.thread = end, 0, False, None

    def __iter__(self):
        return self

    def __next__(self):
        self.thread = threading.current_thread()
        if self.given == self.end:
            raise StopIteration
        self.given += 1
        return self.given

    def close(self):
        self.closed = True


def test_same_items_in_order_from_another_thread():
    source = Source(1000)
    assert list(ahead(source, depth=3)) == list(range(1, 1001))
    assert source.closed and source.thread is not threading.current_thread()


def test_no_more_is_read_ahead_than_was_said():
    source = Source(1000)
    items = ahead(source, depth=4)
    assert [next(items), next(items)] == [1, 2]
    time.sleep(0.2)
    assert source.given == 2 + 4 + 1
    items.close()
    assert source.closed and source.given == 7


def fails_here():
    yield 1
    raise ValueError("late")


def test_errors_come_where_their_item_would_with_their_traceback():
    items = ahead(fails_here())
    assert next(items) == 1
    with pytest.raises(ValueError, match="late") as caught:
        next(items)
    assert "fails_here" in "".join(traceback.format_tb(caught.value.__traceback__))
    assert list(items) == []


def test_an_iterator_that_nobody_asks_starts_no_thread():
    source = Source(3)
    ahead(source)
    assert source.thread is None


def faulty():
    yield "c"
    raise InputError("bad letter")


def test_records_keep_their_pieces_and_their_errors():
    given = [("a", iter("xyz")), ("b", iter("")), ("c", faulty()), ("d", iter("w"))]
    found = []
    for key, pieces in records_ahead(iter(given)):
        try:
            found.append((key, "".join(pieces)))
        except InputError as error:
            found.append((key, str(error)))
    assert found == [("a", "xyz"), ("b", ""), ("c", "bad letter"), ("d", "w")]


def test_what_was_not_read_of_a_record_is_skipped():
    given = [("a", iter("xyz")), ("c", faulty()), ("b", iter("uv"))]
    assert [(key, next(pieces)) for key, pieces in records_ahead(iter(given))] == [("a", "x"), ("c", "c"), ("b", "u")]


def test_a_record_whose_source_was_closed_is_not_taken_for_a_short_one():
    records = records_ahead(iter([("a", iter("xyz"))]))
    _, pieces = next(records)
    assert next(pieces) == "x"
    records.close()
    with pytest.raises(RuntimeError, match="in the middle of this one"):
        list(pieces)


def test_closing_records_closes_their_source():
    class Closing(Source):
        def __next__(self):
            return super().__next__(), iter("ab")

    source = Closing(10_000)
    records = records_ahead(source, depth=2)
    next(records)
    records.close()
    assert source.closed and source.given < 5
