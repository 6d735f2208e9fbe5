"""Labels and annotations as the API server checks them; the syntax of a single key or value is in `names`.

Source: k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go, pkg/api/validation/objectmeta.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from . import names
from .field import FieldError, all_invalid, too_long

ANNOTATIONS_LIMIT: Final = 256 * 1024
"""Bytes of all annotations of an object, keys and values."""


def check_label_key(path: str, key: str) -> Iterator[FieldError]:
    """A label key (ValidateLabelName)."""
    yield from all_invalid(path, key, names.label_key(key))


def check_labels(path: str, labels: Mapping[str, str]) -> Iterator[FieldError]:
    """Labels, or a node selector; all refusals carry the path of the whole (ValidateLabels)."""
    for key, value in labels.items():
        yield from all_invalid(path, key, names.label_key(key))
        yield from all_invalid(path, value, names.label_value(value))


def check_annotations(path: str, annotations: Mapping[str, str]) -> Iterator[FieldError]:
    """Annotations: keys like label keys of any case, 256 KiB in all (ValidateAnnotations)."""
    for key in annotations:
        yield from all_invalid(path, key, names.label_key(key.lower()))
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > ANNOTATIONS_LIMIT:
        yield too_long(path, ANNOTATIONS_LIMIT)
