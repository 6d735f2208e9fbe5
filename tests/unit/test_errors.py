import pickle

import pytest

from topospread.api.inventory import Inventory
from topospread.errors import ConfigError, DecodeError, InputError, InvalidError, Place, TopospreadError, UsageError
from topospread.sources.load import NoNodesError

PLACE = Place("a.yaml", 2, "Pod shop/a", "spec", 3, 4)


@pytest.mark.parametrize(
    "error",
    [
        UsageError("words"),
        InputError("words", PLACE),
        DecodeError("words"),
        InvalidError(["one", "two"], PLACE),
        ConfigError.joined([("a", "one"), ("b", "two")], PLACE),
        NoNodesError(Inventory()),
    ],
)
def test_errors_are_the_same_after_they_crossed_a_process_boundary(error: TopospreadError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_a_joined_error_is_placed_at_its_first_problem() -> None:
    error = ConfigError.joined([("a.b", "is bad"), ("c", "is worse"), ("", "and so on")], Place("f.yaml"))
    assert str(error) == "f.yaml: a.b: is bad; c: is worse; and so on"
    assert (error.first, ConfigError("words").first) == ("is bad", "words")
