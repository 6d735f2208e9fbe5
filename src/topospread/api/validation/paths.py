"""Paths inside a volume or on a node as the API server checks them.

Source: validateLocalDescendingPath, validatePathNoBacksteps and ValidateLocalNonReservedPath in
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from .field import FieldError, invalid


def check_no_backsteps(path: str, target: str) -> Iterator[FieldError]:
    """A path without ``..`` as an element."""
    if ".." in target.split("/"):
        yield invalid(path, target, "must not contain '..'")


def check_descending(path: str, target: str) -> Iterator[FieldError]:
    """A relative path that stays below where it starts."""
    if target.startswith("/"):
        yield invalid(path, target, "must be a relative path")
    yield from check_no_backsteps(path, target)


def check_not_reserved(path: str, target: str) -> Iterator[FieldError]:
    """A descending path that does not begin with two dots."""
    yield from check_descending(path, target)
    if target.startswith("..") and not target.startswith("../"):
        yield invalid(path, target, "must not start with '..'")
