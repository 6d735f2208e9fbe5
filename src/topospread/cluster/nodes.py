"""The node table: one row for each node, and a column for every field that scheduling reads."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from topospread.api.node import Node
from topospread.api.node_selection import Taint
from topospread.api.requests import is_scalar_resource, resource_amounts

from .arrays import Bools, Codes, Ints, grown
from .images import Images

PODS, NON_ZERO_CPU, NON_ZERO_MEMORY, CPU, MEMORY, EPHEMERAL_STORAGE = range(6)
"""Columns of `NodeTable.allocatable` and `NodeTable.used`; extended resources follow from 6 on.

Units: pods; millicores; bytes. The non-zero columns hold requests with the defaults that scoring assumes.
"""

_RANK_GAP = 1 << 32
_STATES_KEPT = 1 << 17
_GARBAGE, _GARBAGE_AT_LEAST = 2, 32
"""Codes are renumbered when there are more than ``_GARBAGE · (values in use + _GARBAGE_AT_LEAST)`` codes."""
_DESCRIBED_AT_LEAST = 128


class LabelColumn:
    """One label key over all nodes: a code for each distinct value, −1 for a node without the key."""

    __slots__ = ("_by_name", "_code_of", "_present", "_rows_of", "_table", "codes", "key", "values")

    def __init__(self, key: str, table: NodeTable) -> None:
        """Read the labels of the table's current nodes. `assign` updates the column later."""
        self.key = key
        self._table = table
        self._code_of: dict[str, int] = {}
        self._rows_of: dict[int, set[int]] | None = None
        self._by_name: Codes = np.zeros(0, dtype=np.int32)
        known = self._code_of
        codes = []
        for node in table.nodes:
            value = None if node is None else node.labels.get(key)
            codes.append(-1 if value is None else known.setdefault(value, len(known)))
        self.codes: Codes = np.full(table.capacity, -1, dtype=np.int32)
        self.codes[: len(codes)] = codes
        self.values: list[str] = list(known)
        self._present = len(codes) - codes.count(-1)

    @property
    def by_name(self) -> Codes:
        """Codes sorted by their values, int32[values]."""
        if len(self._by_name) != len(self.values):
            self._by_name = np.array(sorted(range(len(self.values)), key=self.values.__getitem__), dtype=np.int32)
        return self._by_name

    @property
    def missing(self) -> int:
        """Number of nodes without the key."""
        return len(self._table.row_of) - self._present

    def assign(self, row: int, value: str | None) -> None:
        """Set a row's value, ``None`` if the node lacks the key."""
        code = -1 if value is None else self._code_of.get(value)
        if code is None:
            assert value is not None
            code = self._code_of[value] = len(self.values)
            self.values.append(value)
        self._present += (code >= 0) - int(self.codes[row] >= 0)
        if self._rows_of is not None:
            self._rows_of.get(int(self.codes[row]), set()).discard(row)
            self._rows_of.setdefault(code, set()).add(row)
        self.codes[row] = code

    def code(self, value: str) -> int:
        """Return the code of a value, −1 if no node has had it."""
        return self._code_of.get(value, -1)

    def compact(self) -> bool:
        """Renumber the values if most of them are unused. Return whether it did, which makes old codes invalid."""
        used = np.unique(self.codes[self.codes >= 0])
        if len(self.values) <= _GARBAGE * (len(used) + _GARBAGE_AT_LEAST):
            return False
        new = np.full(len(self.values) + 1, -1, dtype=np.int32)
        new[used] = np.arange(len(used), dtype=np.int32)
        self.codes = new[self.codes]
        self.values = [self.values[code] for code in used.tolist()]
        self._code_of = {value: code for code, value in enumerate(self.values)}
        self._rows_of = None
        self._by_name = np.zeros(0, dtype=np.int32)
        return True

    def rows_with(self, value: str) -> set[int]:
        """Return the rows with a label value. Do not change the set."""
        code = self._code_of.get(value)
        return set() if code is None else self.rows(code)

    def rows(self, code: int) -> set[int]:
        """Return the rows with the label value of a code. Do not change the set."""
        if self._rows_of is None:
            self._rows_of = {}
            for row, each in enumerate(self.codes.tolist()):
                self._rows_of.setdefault(each, set()).add(row)
        return self._rows_of.get(code, set())


class NodeTable:
    """Nodes as columns. Rows of removed nodes are reused.

    Attributes:
        size: number of rows in use, including freed rows; every column is valid in ``[:size]``.
        nodes: row → node object, ``None`` for a freed row.
        alive: whether the row has a node, bool[capacity].
        rank: sort key of the nodes' names, int64[capacity]; ranks have gaps. ``ranks`` is the same as a list[size].
        last_first: negated ``ranks``, as sort key of lists that have the first name last.
        numbers: row → its number as an int object, list[size]. Large lists share these objects to save memory.
        allocatable: amounts that the nodes offer, int64[capacity, resources]; the columns are named above.
        used: requests of the node's pods, int64[capacity, resources].
        shape: number of the row's ``allocatable`` amounts, equal for equal amounts, int64[capacity].
        states: row → result of `state`, list[size]; −1 if ``used`` or ``allocatable`` changed since the last call.
        taints: index into `taint_sets`, int64[capacity].
        unschedulable: ``spec.unschedulable``, bool[capacity].
        images: images of all nodes.
        numbering: number that changes when labels or taints get new codes, which makes stored codes invalid.
    """

    def __init__(self, capacity: int = 64) -> None:
        self.size = 0
        self.nodes: list[Node | None] = []
        self.names: list[str] = []
        self.row_of: dict[str, int] = {}
        self.alive: Bools = np.zeros(capacity, dtype=np.bool_)
        self.rank: Ints = np.zeros(capacity, dtype=np.int64)
        self.ranks: list[int] = []
        self.last_first: list[int] = []
        self.numbers: list[int] = []
        self.resources: dict[str, int] = {"cpu": CPU, "memory": MEMORY, "ephemeral-storage": EPHEMERAL_STORAGE}
        self.allocatable: Ints = np.zeros((capacity, 6), dtype=np.int64)
        self.used: Ints = np.zeros((capacity, 6), dtype=np.int64)
        self.shape: Ints = np.zeros(capacity, dtype=np.int64)
        self.states: list[int] = []
        self.taints: Ints = np.zeros(capacity, dtype=np.int64)
        self.taint_sets: list[tuple[Taint, ...]] = [()]
        self.unschedulable: Bools = np.zeros(capacity, dtype=np.bool_)
        self.images = Images()
        self._free: list[int] = []
        self._sorted_names: list[str] = []
        self._by_name: Ints | None = None
        self._there: tuple[Ints, tuple[str, ...]] | None = None
        self._shapes: dict[bytes, int] = {}
        self._state_numbers: dict[tuple[int, bytes], int] = {}
        self._states_made = 0
        self._taint_codes: dict[tuple[Taint, ...], int] = {(): 0}
        self._labels: dict[str, LabelColumn] = {}
        self._described = 0

    def __len__(self) -> int:
        return len(self.row_of)

    @property
    def by_name(self) -> Ints:
        """Rows sorted by the nodes' names, int64[size]. Freed rows are at arbitrary positions."""
        if self._by_name is None:
            self._by_name = np.argsort(self.rank[: self.size], kind="stable")
        return self._by_name

    @property
    def there(self) -> tuple[Ints, tuple[str, ...]]:
        """Rows and names of the existing nodes, by row. Do not change them."""
        if self._there is None:
            rows = np.flatnonzero(self.alive[: self.size])
            self._there = rows, tuple(map(self.names.__getitem__, rows.tolist()))
        return self._there

    @property
    def capacity(self) -> int:
        """Number of rows that the columns have room for."""
        return len(self.alive)

    def add(self, node: Node) -> int:
        """Add a new node. Return its row."""
        row = self._free.pop() if self._free else self._new_row()
        self.row_of[node.name] = row
        self.names[row] = node.name
        self.alive[row] = True
        self._there = None
        self.used[row] = 0
        self._insert_name(node.name, row)
        self._describe(row, node)
        return row

    def replace(self, node: Node) -> int:
        """Replace the node of the same name. Return its row."""
        row = self.row_of[node.name]
        before = self._forget_images(row)
        self._describe(row, node)
        if before is not None:
            self.images.settle(before)
        return row

    def remove(self, name: str) -> int:
        """Remove a node, which must have no pods. Return its former row."""
        row = self.row_of.pop(name)
        before = self._forget_images(row)
        if before is not None:
            self.images.settle(before)
        for column in self._labels.values():
            column.assign(row, None)
        del self._sorted_names[bisect_left(self._sorted_names, name)]
        self.alive[row] = False
        self._there = None
        self.allocatable[row] = 0
        self._intern_shape(row)
        self.nodes[row] = None
        self._free.append(row)
        return row

    def state(self, row: int) -> int:
        """Return a number for the node's allocatable and used amounts. Equal numbers mean equal amounts.

        Numbers are never reused, so results that are cached by number stay valid.
        """
        number = self.states[row]
        if number < 0:
            key = (int(self.shape[row]), self.used[row].tobytes())
            known = self._state_numbers.get(key)
            if known is None:
                if len(self._state_numbers) >= _STATES_KEPT:
                    self._state_numbers.clear()
                known = self._state_numbers[key] = self._states_made
                self._states_made += 1
            number = self.states[row] = known
        return number

    def labels(self, key: str) -> LabelColumn:
        """Return the column of a label key; make it on first use."""
        column = self._labels.get(key)
        if column is None:
            column = self._labels[key] = LabelColumn(key, self)
        return column

    def resource(self, name: str) -> int:
        """Return the column of a resource in ``allocatable`` and ``used``; make it on first use."""
        column = self.resources.get(name)
        if column is None:
            column = self.resources[name] = self.allocatable.shape[1]
            widen = np.zeros((self.capacity, 1), dtype=np.int64)
            self.allocatable = np.hstack([self.allocatable, widen])
            self.used = np.hstack([self.used, widen])
            self._shapes.clear()
            for row in range(self.size):
                self._intern_shape(row)
        return column

    def _new_row(self) -> int:
        row = self.size
        self.size += 1
        self.nodes.append(None)
        self.names.append("")
        self.states.append(-1)
        self.ranks.append(0)
        self.last_first.append(0)
        self.numbers.append(row)
        if row >= self.capacity:
            self._grow(2 * self.capacity)
        return row

    def _grow(self, capacity: int) -> None:
        for name in ("alive", "rank", "allocatable", "used", "shape", "taints", "unschedulable"):
            setattr(self, name, grown(getattr(self, name), capacity))
        for column in self._labels.values():
            column.codes = grown(column.codes, capacity, -1)

    def _describe(self, row: int, node: Node) -> None:
        self.nodes[row] = node
        labels = node.labels
        for column in self._labels.values():
            column.assign(row, labels.get(column.key))
        taints = tuple(node.spec.taints or ())
        code = self._taint_codes.get(taints)
        if code is None:
            code = self._taint_codes[taints] = len(self.taint_sets)
            self.taint_sets.append(taints)
        self.taints[row] = code
        self.unschedulable[row] = bool(node.spec.unschedulable)
        amounts = resource_amounts(node.status.allocatable)
        columns = {self.resource(n): v for n, v in amounts.items() if n in self.resources or is_scalar_resource(n)}
        self.allocatable[row] = 0
        for column_number, amount in columns.items():
            self.allocatable[row, column_number] = amount
        self.allocatable[row, PODS] = amounts.get("pods", 0)
        self._intern_shape(row)
        self.images.add(row, node)
        self._described += 1
        if self._described > _GARBAGE * len(self.row_of) + _DESCRIBED_AT_LEAST:
            self._described = 0
            self._compact()

    def _compact(self) -> None:
        """Drop unused label values, taint sets and shapes, each if most of them are unused."""
        recoded = [column.compact() for column in self._labels.values()]
        in_use, codes = np.unique(self.taints[: self.size], return_inverse=True)
        if len(self.taint_sets) > _GARBAGE * (len(in_use) + _GARBAGE_AT_LEAST):
            sets = [(), *(each for code in in_use.tolist() if (each := self.taint_sets[code]))]
            code_of = {taints: code for code, taints in enumerate(sets)}
            new = np.array([code_of[self.taint_sets[code]] for code in in_use.tolist()], dtype=np.int64)
            self.taints[: self.size] = new[codes]
            self.taint_sets, self._taint_codes = sets, code_of
            recoded.append(True)
        self.numbering += any(recoded)
        if len(self._shapes) > _GARBAGE * (len(self.row_of) + _GARBAGE_AT_LEAST):
            self._shapes.clear()
            self._state_numbers.clear()
            for row in range(self.size):
                self._intern_shape(row)

    def _intern_shape(self, row: int) -> None:
        self.states[row] = -1
        self.shape[row] = self._shapes.setdefault(self.allocatable[row].tobytes(), len(self._shapes))

    def _forget_images(self, row: int) -> Node | None:
        node = self.nodes[row]
        if node is not None:
            self.images.remove(row, node)
        return node

    def _insert_name(self, name: str, row: int) -> None:
        """Give the name a rank between its neighbours' ranks. If there is no gap, renumber all ranks."""
        names = self._sorted_names
        position = bisect_left(names, name)
        names.insert(position, name)
        below = self.ranks[self.row_of[names[position - 1]]] if position else None
        above = self.ranks[self.row_of[names[position + 1]]] if position + 1 < len(names) else None
        if below is None:
            rank = 0 if above is None else above - _RANK_GAP
        elif above is None:
            rank = below + _RANK_GAP
        else:
            rank = (below + above) // 2
            if rank == below:
                self._renumber()
                return
        self._set_rank(row, rank)

    def _renumber(self) -> None:
        for position, name in enumerate(self._sorted_names):
            self._set_rank(self.row_of[name], position * _RANK_GAP)

    def _set_rank(self, row: int, rank: int) -> None:
        self.rank[row] = self.ranks[row] = rank
        self.last_first[row] = -rank
        self._by_name = None

    numbering = 0
