from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from topospread.scheduling.keyed_heap import KeyedHeap

Item = tuple[str, int]


def _heap(items: list[Item]) -> KeyedHeap[Item]:
    heap: KeyedHeap[Item] = KeyedHeap(lambda item: (item[1],))
    for item in items:
        heap.put(item[0], item)
    return heap


def _popped(heap: KeyedHeap[Item]) -> list[Item]:
    return [item for item in iter(heap.pop, None) if item is not None]


def test_equal_items_come_out_as_from_go_s_heap() -> None:
    # container/heap: the last item takes the first one's place and sinks below children that are smaller.
    heap = _heap([(name, 1) for name in "abcde"])
    assert [name for name, _ in _popped(heap)] == ["a", "e", "d", "c", "b"]


def test_an_item_that_is_put_again_moves_to_its_new_place() -> None:
    heap = _heap([("a", 1), ("b", 2), ("c", 3)])
    heap.put("c", ("c", 0))
    assert [name for name, _ in _popped(heap)] == ["c", "a", "b"]


_CHANGES = st.lists(
    st.tuples(st.sampled_from(["put", "delete", "pop"]), st.sampled_from("abcdefghij"), st.integers(0, 9)), max_size=60
)


@given(_CHANGES)
def test_a_heap_holds_what_was_put_and_pops_the_smallest(changes: list[tuple[str, str, int]]) -> None:
    heap, expected = _heap([]), dict[str, Item]()
    for change, key, rank in changes:
        if change == "put":
            heap.put(key, (key, rank))
            expected[key] = (key, rank)
        elif change == "delete":
            assert heap.delete(key) == expected.pop(key, None)
        else:
            popped = heap.pop()
            smallest = min((rank for _, rank in expected.values()), default=None)
            assert (popped and popped[1]) == smallest
            if popped is not None:
                del expected[popped[0]]
        assert len(heap) == len(expected)
        assert all(heap.get(each) == item for each, item in expected.items())
    assert [rank for _, rank in _popped(heap)] == sorted(rank for _, rank in expected.values())
