"""Volumes whose files are written from objects of the API: ConfigMaps, Secrets, fields of the pod, tokens.

Source: validateSecretVolumeSource, validateDownwardAPIVolumeSource, validateProjectedVolumeSource and what they call
in pkg/apis/core/validation/validation.go (Kubernetes 1.37).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from . import names
from .environment import VOLUME_FIELDS, check_field_reference, check_resource_reference
from .field import FieldError, all_invalid, forbidden, invalid, not_supported, printed, required, too_long
from .names import ANNOTATIONS_LIMIT, check_not_reserved
from .rules import check_fields
from .selectors import check_label_selector, selector_as_printed

# Projected trust bundles and certificates of pods as the API server checks them.
# Source: validateProjectionSources in pkg/apis/core/validation/validation.go, and names.go there (Kubernetes 1.37).

_KEY_TYPES: Final = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_CERTIFICATE_PATHS: Final = ("credentialBundlePath", "keyPath", "certificateChainPath")
_DAY: Final = 24 * 60 * 60
_SIGNER_LIMIT: Final = 571


def check_user(path: str, source: Json) -> Iterator[FieldError]:
    """Check the files' user at ``path``, the field ``user`` or ``defaultUser`` of the source."""
    user = source.get(path.rpartition(".")[2])
    if user is not None:
        yield from all_invalid(path, user, names.user_or_group(user))


def check_taken(path: str, target: str, shown: str, taken: set[str]) -> Iterator[FieldError]:
    """Check that no earlier source of the volume writes the file ``target``, and add it to ``taken``."""
    if target in taken:
        yield invalid(path, shown, "conflicting duplicate paths")
    taken.add(target)


def check_trust_bundle(path: str, inner: str, source: Json, taken: set[str]) -> Iterator[FieldError]:
    """Check a ``clusterTrustBundle``. ``path``: the volume's path; ``inner``: the source's path."""
    name, signer, selector = source.get("name"), source.get("signerName"), source.get("labelSelector")
    if name is not None and signer is not None:
        yield invalid(inner, _bundle_as_printed(source), "only one of name and signerName may be used")
    elif name is not None:
        if not name:
            yield required(f"{inner}.name", "must be a valid object name")
        reasons = (f"not a valid clustertrustbundlename: {reason}" for reason in _bundle_name(name))
        yield from all_invalid(f"{inner}.name", name, reasons)
        if selector is not None:
            detail = "labelSelector must be unset if name is specified"
            yield invalid(f"{inner}.labelSelector", selector_as_printed(selector), detail)
    elif signer is not None:
        if not signer:
            yield required(f"{inner}.signerName", "must be a valid signer name")
        yield from _check_signer(f"{inner}.signerName", signer)
        yield from check_label_selector(f"{inner}.labelSelector", selector)
    else:
        yield required(inner, "either name or signerName must be specified")
    target = source.get("path", "")
    if not target:
        yield required(f"{inner}.path")
    yield from check_user(f"{inner}.user", source)
    yield from check_not_reserved(f"{inner}.path", target)
    yield from check_taken(path, target, target, taken)


def _bundle_name(name: str) -> names.Reasons:
    """Check a trust bundle's name: a subdomain, possibly after its signer's name (with colons for slashes)."""
    signer, colon, rest = name.rpartition(":")
    if colon and not signer:
        return ('ClusterTrustBundle without signer name must not have ":" in its name',)
    if "/" in signer:
        meant, prefix = signer.replace(":", "/"), signer.replace("/", ":")
        return (f"ClusterTrustBundle for signerName {meant} must be named with prefix {prefix}:",)
    return names.subdomain(rest)


def _bundle_as_printed(source: Json) -> Json:
    return {
        "Name": source.get("name"),
        "SignerName": source.get("signerName"),
        "LabelSelector": selector_as_printed(source["labelSelector"]) if "labelSelector" in source else None,
        "Optional": source.get("optional"),
        "Path": source.get("path", ""),
        "User": source.get("user"),
    }


def check_pod_certificate(path: str, inner: str, source: Json, taken: set[str]) -> Iterator[FieldError]:
    """Check a ``podCertificate``. ``path``: the volume's path; ``inner``: the source's path."""
    signer = source.get("signerName", "")
    yield from _check_signer(f"{inner}.signerName", signer)
    yield from _check_user_annotations(f"{inner}.userAnnotations", source.get("userAnnotations", {}))
    yield from check_user(f"{inner}.user", source)
    if source.get("keyType", "") not in _KEY_TYPES:
        yield not_supported(f"{inner}.keyType", source.get("keyType", ""), _KEY_TYPES)
    seconds = source.get("maxExpirationSeconds")
    if seconds is not None:
        host = signer.partition("/")[0]
        most = _DAY if host == "kubernetes.io" or host.endswith(".kubernetes.io") else 91 * _DAY
        if seconds < 3600:
            detail = "if provided, maxExpirationSeconds must be >= 3600"
            yield invalid(f"{inner}.maxExpirationSeconds", seconds, detail)
        if seconds > most:
            detail = f"if provided, maxExpirationSeconds must be <= {most}"
            yield invalid(f"{inner}.maxExpirationSeconds", seconds, detail)
    given = [field for field in _CERTIFICATE_PATHS if source.get(field)]
    for field in given:
        yield from check_not_reserved(f"{inner}.{field}", source[field])
        yield from check_taken(path, source[field], source[field], taken)
    if not given:
        yield required(inner, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath")


def _check_signer(path: str, name: str) -> Iterator[FieldError]:
    """Check a signer's name: a domain, a slash, a path (ValidateSignerName)."""
    if not name:
        yield required(path)
        return
    if name.count("/") != 1:
        detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield invalid(path, name, detail)
        return
    domain, _, target = name.partition("/")
    if len(domain.encode()) > 253:
        yield too_long(path, 253)
    yield from _check_parts(path, domain, subdomains=False)
    if "." not in domain:
        yield invalid(path, domain, "should be a domain with at least two segments separated by dots")
    yield from _check_parts(path, target, subdomains=True)
    if len(name.encode()) > _SIGNER_LIMIT:
        yield too_long(path, _SIGNER_LIMIT)


def _check_parts(path: str, text: str, *, subdomains: bool) -> Iterator[FieldError]:
    for part in text.split("."):
        reasons = names.subdomain(part) if subdomains else names.dns_label(part)
        if reasons:
            yield from all_invalid(path, text, (f"validating label {printed(part)}: {each}" for each in reasons))
            return


def _check_user_annotations(path: str, annotations: dict[str, str]) -> Iterator[FieldError]:
    for each in annotations:
        key = each.lower()
        reasons = names.label_key(key)
        if not key:
            yield required(path)
        elif reasons:
            yield from all_invalid(path, key, reasons)
        elif "/" not in key:
            yield invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > ANNOTATIONS_LIMIT:
        yield too_long(path, ANNOTATIONS_LIMIT)


Json = dict[str, Any]

_PROJECTIONS: Final = (
    "secret",
    "configMap",
    "downwardAPI",
    "serviceAccountToken",
    "clusterTrustBundle",
    "podCertificate",
)


def check_keys(path: str, source: Json) -> Iterator[FieldError]:
    """Check a volume of a ConfigMap or a Secret, except its name."""
    for index, item in enumerate(source.get("items", ())):
        yield from _check_key_to_path(f"{path}.items[{index}]", item)


def _check_key_to_path(path: str, item: Json) -> Iterator[FieldError]:
    yield from check_fields(path, "KeyToPath", item)
    yield from check_not_reserved(f"{path}.path", item.get("path", ""))


def check_downward_api(path: str, source: Json) -> Iterator[FieldError]:
    """Check a volume of the pod's own fields."""
    for item in source.get("items", ()):
        # In these errors, the API server has the source's path instead of the item's.
        yield from _check_downward_file(path, item)


def _check_downward_file(path: str, item: Json) -> Iterator[FieldError]:
    yield from check_fields(path, "DownwardAPIVolumeFile", item)
    yield from check_not_reserved(f"{path}.path", item.get("path", ""))
    if "fieldRef" in item:
        yield from check_field_reference(f"{path}.fieldRef", item["fieldRef"], VOLUME_FIELDS)
        if "resourceFieldRef" in item:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield invalid(path, "resource", detail)
    elif "resourceFieldRef" in item:
        yield from check_resource_reference(f"{path}.resourceFieldRef", item["resourceFieldRef"], in_volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")


def check_projected(path: str, source: Json) -> Iterator[FieldError]:
    """Check a projected volume, whose sources must write distinct files."""
    taken: set[str] = set()
    for index, each in enumerate(source.get("sources", ())):
        yield from _check_projection(path, f"{path}.sources[{index}]", each, taken)


def _check_projection(path: str, inner: str, source: Json, taken: set[str]) -> Iterator[FieldError]:
    given = [kind for kind in _PROJECTIONS if kind in source]
    for kind in ("secret", "configMap"):
        if kind in source:
            name = source[kind].get("name", "")
            if not name:
                yield required(f"{inner}.{kind}.name")
            for position, item in enumerate(source[kind].get("items", ())):
                yield from _check_key_to_path(f"{inner}.{kind}.items[{position}]", item)
                if item.get("path"):
                    yield from check_taken(path, item["path"], name, taken)
    for item in source.get("downwardAPI", {}).get("items", ()):
        yield from _check_downward_file(f"{inner}.downwardAPI", item)
        if item.get("path"):
            yield from check_taken(path, item["path"], item["path"], taken)
    if "serviceAccountToken" in source:
        yield from _check_token(path, f"{inner}.serviceAccountToken", source["serviceAccountToken"])
    if "clusterTrustBundle" in source:
        yield from check_trust_bundle(path, f"{inner}.clusterTrustBundle", source["clusterTrustBundle"], taken)
    if "podCertificate" in source:
        yield from check_pod_certificate(path, f"{inner}.podCertificate", source["podCertificate"], taken)
    if len(given) > 1:
        yield forbidden(inner, "may not specify more than 1 volume type per source")


def _check_token(path: str, inner: str, token: Json) -> Iterator[FieldError]:
    seconds, target = token.get("expirationSeconds", 3600), token.get("path", "")
    if seconds < 600:
        yield invalid(f"{inner}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > 2**32:
        yield invalid(f"{inner}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    # In this error, the API server has the volume's path instead of the source's.
    if not target:
        yield required(f"{path}.path")
    else:
        yield from check_not_reserved(f"{path}.path", target)
    yield from check_user(f"{inner}.user", token)
