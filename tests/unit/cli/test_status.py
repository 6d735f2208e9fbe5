"""A command that is suggested gives the same input as the one that was typed."""

from __future__ import annotations

import click
import pytest

from topospread.cli.inputs import input_options, namespace_options
from topospread.cli.live_options import access_options
from topospread.cli.status import typed_words


@click.command()
@input_options
@access_options
@namespace_options("Show")
def asked(**given: object) -> list[str]:
    return typed_words(given)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-f", "app.yaml", "-f", "more.yaml", "--on", "zones=3,nodes=6"],
        ["-f", "app.yaml", "--context", "prod", "--config", "scheduler.yaml", "-n", "shop"],
        ["--on", "live", "--kube-version", "1.33", "--feature-gates", "scheduler:NodeInclusionPolicy=false"],
        ["-f", "chart", "--helm-release", "web", "--helm-values", "prod.yaml", "--helm-set", "replicas=3"],
        ["-f", "chart", "--render", "never", "--with-hooks", "--strict"],
    ],
)
def test_the_words_are_those_that_were_typed(words: list[str]) -> None:
    assert asked.main(words, standalone_mode=False) == words


def test_defaults_are_not_repeated() -> None:
    assert asked.main(["-f", "a.yaml", "--kube-version", "1.37"], standalone_mode=False) == ["-f", "a.yaml"]
