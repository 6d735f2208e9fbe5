import pytest

from topospread.sources.positions import Position, format_path, locate, parse_path, positions

TEXT = b"""\
apiVersion: v1
---
spec:
  containers:
  - name: web
    resources: {limits: {nvidia.com/gpu: 1}}
  - name: log
  nodeSelector: &where
    disk: ssd
  copy: *where
"""


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("spec.containers[0].name", ("spec", "containers", 0, "name")),
        ("resources.limits[nvidia.com/gpu]", ("resources", "limits", "nvidia.com/gpu")),
        ("metadata.labels[]", ("metadata", "labels", "")),
        ("", ()),
    ],
)
def test_paths_are_read_and_written_as_the_api_server_does(field, path):
    assert parse_path(field) == path
    assert format_path(path) == field


@pytest.mark.parametrize(
    ("field", "line", "column"),
    [
        ("spec.containers[1].name", 7, 5),
        ("spec.containers[1]", 7, 5),
        ("spec.containers[0].resources.limits[nvidia.com/gpu]", 6, 26),
        ("spec.nodeSelector.disk", 9, 5),
        ("spec.copy.disk", 10, 3),
        ("spec.containers[0].image", 5, 5),
        ("", 3, 1),
    ],
)
def test_fields_are_found_or_what_they_would_stand_in(field, line, column):
    assert locate(TEXT, 2, parse_path(field)) == Position(line, column)


def test_a_document_that_is_not_there_is_nowhere():
    assert locate(TEXT, 9, ()) is None


def test_all_positions_of_a_document():
    found = positions(TEXT, 2)
    assert found["spec", "nodeSelector"] == Position(8, 3)
    assert found["spec", "containers", 0, "resources", "limits"] == Position(6, 17)
    assert len(found) == 13


def test_a_faulty_text_is_read_as_far_as_it_goes():
    assert locate(b"a: 1\nb: 2\nc:\n\td: 3\n", 1, ("b",)) == Position(2, 1)


def test_json_is_found_too():
    text = b'{"items": [{"a": 1},\n  {"b": "\\u00e9"}]}'
    assert locate(text, 1, ("items", 1, "b")) == Position(2, 4)
