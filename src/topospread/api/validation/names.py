"""Names, labels, annotations and paths as the API server checks them; `label_syntax` has the syntax of labels.

Source: k8s.io/apimachinery/pkg/util/validation/validation.go. `Reasons` are messages that say why a text is invalid; a
valid text has none. Lengths are bytes of UTF-8, although messages call them characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from topospread.api import label_syntax

from .field import FieldError, all_invalid, invalid, too_long

_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_UNDERSCORE_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORE_SUBDOMAIN = rf"{_UNDERSCORE_LABEL}(\.{_UNDERSCORE_LABEL})*"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_HEADER = "[-A-Za-z0-9]+"

_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    f"with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_DNS_LABEL}')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, {allowed} or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{pattern}')"
)
_CONFIG_KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  "
    f"or 'key-name', regex used for validation is '{_CONFIG_KEY}')"
)
_HEADER_RULE = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for "
    f"validation is '{_HEADER}')"
)
_ENV_NAME_RULE = "a valid environment variable name must consist only of printable ASCII characters other than '='"

_is_dns_label = re.compile(_DNS_LABEL).fullmatch
_is_subdomain = re.compile(_SUBDOMAIN).fullmatch
_is_underscore_subdomain = re.compile(_UNDERSCORE_SUBDOMAIN).fullmatch
_is_config_key = re.compile(_CONFIG_KEY).fullmatch
_is_header = re.compile(_HEADER).fullmatch
_is_port_name = re.compile("[-a-z0-9]+").fullmatch

Reasons = tuple[str, ...]


@lru_cache(maxsize=8192)
def label_key(key: str) -> Reasons:
    """Check a label key (IsQualifiedName)."""
    return tuple(label_syntax.label_key_problems(key))


@lru_cache(maxsize=8192)
def label_value(value: str) -> Reasons:
    """Check a label value (IsValidLabelValue)."""
    return tuple(label_syntax.label_value_problems(value))


@lru_cache(maxsize=8192)
def subdomain(name: str) -> Reasons:
    """Check the name of most objects (IsDNS1123Subdomain)."""
    reasons = _at_most(name, 253)
    if not _is_subdomain(name):
        reasons += (_SUBDOMAIN_RULE.format(allowed="'-'", pattern=_SUBDOMAIN),)
    return reasons


@lru_cache(maxsize=8192)
def dns_label(name: str) -> Reasons:
    """Check the name of a container, a volume, a namespace (IsDNS1123Label)."""
    reasons = _at_most(name, 63)
    if not _is_dns_label(name):
        reasons += ("must not contain dots" if _is_subdomain(name) else _LABEL_RULE,)
    return reasons


def path_segment(name: str) -> Reasons:
    """Check that a name is valid in a URL (IsValidPathSegmentName)."""
    if name in (".", ".."):
        return (f"may not be '{name}'",)
    return tuple(f"may not contain '{each}'" for each in "/%" if each in name)


def underscore_subdomain(name: str) -> Reasons:
    """Check a DNS search path (IsDNS1123SubdomainWithUnderscore)."""
    reasons = _at_most(name, 253)
    if not _is_underscore_subdomain(name):
        reasons += (_SUBDOMAIN_RULE.format(allowed="'_', '-'", pattern=_UNDERSCORE_SUBDOMAIN),)
    return reasons


def name_prefix(name: str) -> str:
    """Return a generateName in the form to check: ``a`` replaces a trailing dash and the character before it."""
    return name[:-2] + "a" if len(name) > 1 and name.endswith("-") else name


def port_name(name: str) -> Reasons:
    """Check the name of a port (IsValidPortName)."""
    reasons = _at_most(name, 15)
    if not _is_port_name(name):
        reasons += ("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",)
    if not any("a" <= character <= "z" for character in name):
        reasons += ("must contain at least one letter (a-z)",)
    if "--" in name:
        reasons += ("must not contain consecutive hyphens",)
    if name.startswith("-") or name.endswith("-"):
        reasons += ("must not begin or end with a hyphen",)
    return reasons


def port_number(port: int) -> Reasons:
    """Check the number of a port (IsValidPortNum)."""
    return in_range(port, 1, 65535)


def user_or_group(number: int) -> Reasons:
    """Check the number of a user or group (IsValidUserID, IsValidGroupID)."""
    return in_range(number, 0, 2**31 - 1)


def in_range(number: int, low: int, high: int) -> Reasons:
    """Check a number from ``low`` to ``high`` (IsInRange)."""
    return () if low <= number <= high else (f"must be between {low} and {high}, inclusive",)


def environment_variable(name: str) -> Reasons:
    """Check the name of an environment variable (IsRelaxedEnvVarName)."""
    reasons: Reasons = () if name else ("environment variable name must be non-empty",)
    if any(not " " <= character <= "~" or character == "=" for character in name):
        reasons += (_ENV_NAME_RULE,)
    return reasons


def config_key(key: str) -> Reasons:
    """Check a key of a ConfigMap or Secret (IsConfigMapKey)."""
    reasons = _at_most(key, 253)
    if not _is_config_key(key):
        reasons += (_CONFIG_KEY_RULE,)
    if key in (".", ".."):
        reasons += (f"must not be '{key}'",)
    elif key.startswith(".."):
        reasons += ("must not start with '..'",)
    return reasons


def http_header(name: str) -> Reasons:
    """Check the name of an HTTP header (IsHTTPHeaderName)."""
    return () if _is_header(name) else (_HEADER_RULE,)


def _at_most(text: str, length: int) -> Reasons:
    return () if len(text.encode()) <= length else (f"must be no more than {length} characters",)


# Paths inside a volume or on a node as the API server checks them.
# Source: validateLocalDescendingPath, validatePathNoBacksteps and ValidateLocalNonReservedPath in
# pkg/apis/core/validation/validation.go.


def check_no_backsteps(path: str, target: str) -> Iterator[FieldError]:
    """Check that a path has no ``..`` element."""
    if ".." in target.split("/"):
        yield invalid(path, target, "must not contain '..'")


def check_descending(path: str, target: str) -> Iterator[FieldError]:
    """Check that a path is relative and has no ``..`` element."""
    if target.startswith("/"):
        yield invalid(path, target, "must be a relative path")
    yield from check_no_backsteps(path, target)


def check_not_reserved(path: str, target: str) -> Iterator[FieldError]:
    """Check that a path is relative, has no ``..`` element, and does not start with two dots."""
    yield from check_descending(path, target)
    if target.startswith("..") and not target.startswith("../"):
        yield invalid(path, target, "must not start with '..'")


# Labels and annotations as the API server checks them.
# Source: k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go, pkg/api/validation/objectmeta.go.

ANNOTATIONS_LIMIT: Final = 256 * 1024
"""Maximum size of an object's annotations: bytes of all keys and values."""


def check_label_key(path: str, key: str) -> Iterator[FieldError]:
    """Check a label key (ValidateLabelName)."""
    yield from all_invalid(path, key, label_key(key))


def check_labels(path: str, labels: Mapping[str, str]) -> Iterator[FieldError]:
    """Check labels, or a node selector; all errors have the path of the map (ValidateLabels)."""
    for key, value in labels.items():
        yield from all_invalid(path, key, label_key(key))
        yield from all_invalid(path, value, label_value(value))


def check_annotations(path: str, annotations: Mapping[str, str]) -> Iterator[FieldError]:
    """Check annotations: keys are label keys, but may be in upper case; the total size is at most 256 KiB.

    Source: ValidateAnnotations.
    """
    for key in annotations:
        yield from all_invalid(path, key, label_key(key.lower()))
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > ANNOTATIONS_LIMIT:
        yield too_long(path, ANNOTATIONS_LIMIT)
