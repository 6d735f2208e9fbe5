from __future__ import annotations

import os

import pytest

from topospread.cli.absolute_environment import absolute_environment


@pytest.mark.parametrize(
    ("given", "kept"), [("", None), (":/opt/lib:", "/opt/lib"), ("src", None), ("/a:b:/c", "/a:/c")]
)
@pytest.mark.parametrize("name", ["PYTHONPATH", "LD_LIBRARY_PATH", "PYTHONPYCACHEPREFIX"])
def test_relative_paths_of_modules_and_libraries_are_left_out(
    name: str, given: str, kept: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, given)
    assert absolute_environment().get(name) == kept
    assert absolute_environment()["PATH"] == os.environ["PATH"]
