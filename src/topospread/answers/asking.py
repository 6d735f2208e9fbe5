"""From a function that works a result out to the function of the Python API that returns its answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from msgspec.structs import replace

from topospread.answer import Answer

Given = ParamSpec("Given")
Found = TypeVar("Found")
Told = TypeVar("Told", bound=Answer)


def answering(ask: Callable[Given, Found], answer: Callable[[Found], Told]) -> Callable[Given, Told]:
    """Return a function with the parameters and the docstring of `ask` that returns its result as an answer.

    Args:
        ask: function with a parameter ``kube_version``.
        answer: makes an answer of a result, also of a partial one after Ctrl-C.
    """
    signature = inspect.signature(ask)

    @wraps(ask)
    def answered(*args: Given.args, **kwargs: Given.kwargs) -> Told:
        from topospread.drills.interruption import Interrupted  # imports the engine, which not every answer needs

        version = kwargs.get("kube_version", signature.parameters["kube_version"].default)
        try:
            return with_version(answer(ask(*args, **kwargs)), version)
        except Interrupted as ended:
            raise Interrupted(with_version(answer(ended.finished), version)) from None

    returns = inspect.signature(answer).return_annotation
    answered.__signature__ = signature.replace(return_annotation=returns)  # type: ignore[attr-defined]
    return answered


def with_version(told: Told, version: object) -> Told:
    """Return an answer that names the Kubernetes version that it is for."""
    return replace(told, on=replace(told.on, kube_version=str(version)))
