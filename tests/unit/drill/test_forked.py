import os
import signal

import pytest

from topospread.drill.forked import answers
from topospread.errors import InvalidError, Place


def test_an_error_of_a_process_is_raised_here_with_all_it_says() -> None:
    def refuse(_: int) -> None:
        raise InvalidError(["one", "two"], Place("a.yaml"))

    with pytest.raises(InvalidError) as caught:
        answers(refuse, [1, 2], 2)
    assert caught.value.problems == ("one", "two")
    assert str(caught.value) == "a.yaml: one; two"


def test_an_error_that_pickle_cannot_restore_is_told_in_words() -> None:
    class LocalError(Exception):
        """pickle finds no class that is defined in a function."""

    def fail(_: int) -> None:
        raise LocalError("one two")

    with pytest.raises(RuntimeError, match="LocalError: one two"):
        answers(fail, [1], 1)


def test_an_item_whose_process_dies_twice_is_named_with_the_signal() -> None:
    def die(_: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(ChildProcessError, match=r"^the process for zone-a died twice \(signal 9\)$"):
        answers(die, ["zone-a"], 1)
