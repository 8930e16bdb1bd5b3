from collections.abc import Iterable, Iterator
from functools import partial

from nutgraf.hardware import Hardware
from nutgraf.progress import Progress, ignore
from nutgraf.workers.executor import Item, Local, Result, Tell, Work, map_in_order


class Shuffling(Local):
    """Yields what is completed in another order than that of the items, two by two."""

    def map(
        self, work: Work[Item, Result], items: Iterable[Item], threads: int, tell: Tell
    ) -> Iterator[tuple[Item, Result]]:
        done = list(super().map(work, items, threads, tell))
        return iter(done[2:] + done[:2])


def double(told: list[int], item: int, tell: Tell) -> int:
    told.append(item)
    tell(Progress(item, 0, "items"))
    return 2 * item


def test_results_come_in_the_order_of_the_items() -> None:
    heard: list[Progress | str] = []
    executor = Shuffling(Hardware("cpu", 1))
    found = list(map_in_order(executor, partial(double, []), [5, 6, 7, 8], 1, heard.append))
    assert found == [(5, 10), (6, 12), (7, 14), (8, 16)]
    assert heard == [Progress(item, 0, "items") for item in (5, 6, 7, 8)]


def test_here_an_item_is_taken_when_the_one_before_is_done() -> None:
    begun: list[int] = []
    found = map_in_order(Local(Hardware("cpu", 1)), partial(double, begun), iter([1, 2, 3]), 1, ignore)
    assert next(found) == (1, 2)
    assert begun == [1]
