"""The answer of `config validate`: would kube-scheduler accept a configuration?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from msgspec import Meta

from topospread.answer import Answer, Asked
from topospread.errors import Place

from .finding import Finding
from .words import counted


class ConfigValidate(Answer, frozen=True, kw_only=True):
    """The answer of `topospread config validate`. The verdict is no if kube-scheduler rejects the configuration."""

    PAGE: ClassVar[str] = "topospread.render.pages.config_validate:page"

    configuration_version: Annotated[str, Meta(description="apiVersion of a valid configuration; empty otherwise.")]
    findings: Annotated[tuple[Finding, ...], Meta(description="Fields that are refused, then doubts about fields.")]


def accepted(file: str, version: str, warnings: Iterable[str], kube_version: str) -> ConfigValidate:
    """Return the answer for a configuration that kube-scheduler accepts."""
    return ConfigValidate(
        kind="ConfigValidate",
        verdict="yes",
        says=f"{file} is a valid {version} configuration",
        on=Asked(source=file, kube_version=kube_version),
        configuration_version=version,
        findings=tuple(Finding(level="warning", rule="configuration", says=each, file=file) for each in warnings),
    )


def refused(file: str, problems: Iterable[tuple[str, Place]], kube_version: str) -> ConfigValidate:
    """Return the answer for a configuration that kube-scheduler rejects, with the place of each problem."""
    findings = tuple(
        Finding(
            level="error",
            rule="configuration",
            says=f"{place.field}: {says}" if place.field else says,
            file=place.source or file,
            line=place.line,
            column=place.column,
            object=place.object,
        )
        for says, place in problems
    )
    return ConfigValidate(
        kind="ConfigValidate",
        verdict="no",
        says=f"kube-scheduler refuses {file} ({counted(len(findings), 'problem')})",
        on=Asked(source=file, kube_version=kube_version),
        configuration_version="",
        findings=findings,
    )
