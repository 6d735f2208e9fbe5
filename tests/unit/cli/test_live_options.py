"""Which cluster is meant: the live one where it is named, or where nothing is; and what is said without the extra."""

from __future__ import annotations

from typing import Any

import pytest

from topospread import extras
from topospread.cli.live_options import NOBODY, is_meant, is_there, live_words, read_access
from topospread.errors import UsageError


def given(**more: Any) -> dict[str, Any]:
    return {**NOBODY, "cluster": None, "namespace": None} | more


def test_it_is_meant_where_it_is_named() -> None:
    assert is_meant(given(context="prod"), ("app.yaml",))
    assert is_meant(given(cluster="live"), ("app.yaml",))
    assert not is_meant(given(), ("app.yaml",))
    assert not is_meant(given(cluster="zones=3"), ())
    with pytest.raises(UsageError, match=r"--on zones=3$"):
        is_meant(given(user="jane", cluster="zones=3"), ())


def test_without_the_extra_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extras.NEEDED["live"], "no_such_module", "no-such-package")
    assert not is_there(given())
    with pytest.raises(UsageError, match=r"no cluster: add --on.*pip install 'topospread\[live\]'"):
        is_meant(given(), ())
    with pytest.raises(UsageError, match=r"no-such-package is not installed: pip install 'topospread\[live\]'"):
        read_access(given(context="prod"))


def test_commands_to_type_name_the_cluster_as_it_was_named() -> None:
    named = given(context="prod", user="jane", as_group=("a", "b c"), as_uid="7")
    typed = " ".join(live_words(named))
    assert typed == "--context prod --as jane --as-group a --as-group b c --as-uid 7"
    assert live_words({}) == []
