import gzip
import json
from pathlib import Path

import pytest
import yaml as pyyaml

from topospread.errors import DecodeError, DuplicateError
from topospread.sources.text import Text
from topospread.sources.yaml import read_documents

RECORDED = [
    json.loads(line)
    for line in gzip.decompress(Path(__file__).with_name("recorded_yaml.jsonl.gz").read_bytes()).splitlines()
]


def read(text: str) -> list[object]:
    return [document.value for document in read_documents(Text("a.yaml", text.encode()))]


def same(left: object, right: object) -> bool:
    """Equal as JSON: 1 is 1.0, but true is not 1; numbers beyond 64 bits are floats."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, bool) or isinstance(right, bool) or not isinstance(left, int | float):
        return left is right or (type(left) is type(right) and left == right)
    return isinstance(right, int | float) and (left == right or float(left) == float(right))


def answer(text: str) -> object:
    """The one document of a text, or the error it is answered with."""
    try:
        return read(text)[0]
    except (DecodeError, DuplicateError) as error:
        return error


def test_texts_mean_what_they_mean_to_kubernetes():
    """Every text whose meaning sigs.k8s.io/yaml was asked for; only keys given twice, which it lets pass, are not."""
    compared = 0
    for case in RECORDED:
        found = answer(case["yaml"])
        if isinstance(found, DuplicateError):
            continue
        assert isinstance(found, DecodeError) == ("error" in case), (case, found)
        if "error" not in case:
            assert same(found, case["json"]), case
            compared += 1
    assert compared > len(RECORDED) / 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("created: 2025-01-01T00:00:00Z", {"created": "2025-01-01T00:00:00Z"}),
        ("mode: 0644", {"mode": 420}),
        ("replicas: 3.0", {"replicas": 3}),
        ("port: 12:30", {"port": "12:30"}),
        ("on: 1", {"true": 1}),
        ("a: 1\r\nb:\r\n- c\r\n", {"a": 1, "b": ["c"]}),
        ("text: |\n  kind: Pod\n  ---\n", {"text": "kind: Pod\n---\n"}),
        ('---\n{\n  a: "x", # said so\n  b: [1, 2,],\n}\n', {"a": "x", "b": [1, 2]}),
    ],
)
def test_real_files(text, value):
    assert read(text) == [value]


@pytest.mark.parametrize("text", ["a: [b,\n\ufeff#]\n]", "\ufeffa: 1", "a: 'b\ufeff'"])
def test_a_byte_order_mark_inside_is_refused_because_parsers_differ_on_it(text):
    """To libyaml the first text is a comment in a list; kubectl and kustomize read the # and the end of the list."""
    with pytest.raises(DecodeError, match="byte order mark"):
        read(text)


@pytest.mark.parametrize("text", ["{a: !x,b: [c]}", "{a: !,b: c}", "a: !!null"])
def test_a_tag_without_a_value_is_refused_because_go_reads_the_comma_as_part_of_it(text):
    with pytest.raises(DecodeError, match="a tag without a value"):
        read(text)
    assert read("[!!str '', !!str a, ! b]") == [["", "a", "b"]]


@pytest.mark.parametrize(
    "text",
    ["a: 1\n---#\nb: 2", "---#: |\n  a", "a: 1\n--- {b: 2}", "a: 1\n---\u00a0\n", "a: 1\u2028---\n"],
)
def test_separators_that_kubectl_reads_otherwise_are_refused(text):
    with pytest.raises(DecodeError, match="does not take this line for a separator"):
        read(text)
    assert read("--- # c\na: 1\r\n---\t\r\nb: 2\n---") == [{"a": 1}, {"b": 2}, None]


@pytest.mark.parametrize("directive", ["%YAML 1.1", "%YAML 1.2", "%TAG ! tag:x,2000:"])
def test_directives_are_refused_as_kubectl_does_not_read_them(directive: str) -> None:
    for before in ("", "a: 1\n---\n"):
        with pytest.raises(DecodeError, match="kubectl does not read a directive"):
            read(f"{before}{directive}\n---\nb: 1\n")


@pytest.mark.parametrize(
    "value", ["|\n  a\n\n  b\n", ">-\n  a\n  b\n\n   c\n", '"a\\\n b\n\n c"\n', "'a\n\n b'\n", "a\n b\n"]
)
def test_a_checkout_with_crlf_means_the_same(value: str) -> None:
    text = f"a: {value}b: 1\n"
    assert read(text.replace("\n", "\r\n")) == read(text)


@pytest.mark.parametrize("text", ["a: 1\r---\rb: 2", "a: 1\n--- # x\rb: 2", 'a: "b\\\r\r\n c"'])
def test_a_carriage_return_alone_is_refused_because_kubectl_sees_no_end_of_a_line(text):
    with pytest.raises(DecodeError, match="a carriage return without a line feed"):
        read(text)
    assert read("a: 1\r\nb: 2\r\n") == [{"a": 1, "b": 2}]


@pytest.mark.parametrize("space", ["\u00a0", " \u3000 ", "\u0085\n", "\n\u2003"])
@pytest.mark.parametrize("before", ["", "a: 1\n---\n", "a: 1\n--- # b\n"])
def test_white_space_that_only_kubectl_skips_before_json_is_refused(before, space):
    with pytest.raises(DecodeError, match="kubectl skips this white space"):
        read(before + space + '{"a": 1}')
    assert read(before + "\n" + '{"a": 1}')[-1] == {"a": 1}
    assert read("a: |\n  b\n  \u00a0{c")


@pytest.mark.parametrize("text", ['{"a": "b\u0085c"}\n---\n', 'd: 1\n---\n{"a": "b\u2028c"}\n'])
def test_line_breaks_that_kubectl_keeps_in_json_are_refused(text):
    with pytest.raises(DecodeError, match="kubectl keeps this line break"):
        read(text)
    assert read('{"a": "b"}\n---\nc: d\u0085') == [{"a": "b"}, {"c": "d"}]


def test_the_last_line_ends_like_in_kubectl():
    assert read("a: |\n  b") == read("a: |\n  b\n") == [{"a": "b\n"}]
    assert read("a: b") == [{"a": "b"}]


@pytest.mark.parametrize("value", ["4oBi", "é", "YQ="])
def test_binary_is_base64_of_utf8(value):
    """Go has one replacement character for each byte that is no text, and Python one for several."""
    with pytest.raises(DecodeError, match="!!binary is not base64 of UTF-8 text"):
        read(f"a: !!binary {value}")
    assert read("a: !!binary w6k=") == [{"a": "é"}]


@pytest.mark.parametrize("text", ["[a, b, c, d]", "a: b\n---\n- c", "[[], [], [], []]"])
def test_a_text_has_a_largest_number_of_values(monkeypatch, text):
    monkeypatch.setattr("topospread.sources.yaml.MAX_VALUES", 5)
    read(text)
    monkeypatch.setattr("topospread.sources.yaml.MAX_VALUES", 4)
    with pytest.raises(DecodeError, match="more than 4 values"):
        read(text)


def test_merge_keys_are_not_duplicates_and_what_stands_later_wins():
    text = "base: &b {x: 1, z: 1}\nafter: {<<: *b, x: 2}\nbefore: {x: 2, <<: *b}\n"
    assert read(text)[0] == {"base": {"x": 1, "z": 1}, "after": {"x": 2, "z": 1}, "before": {"x": 1, "z": 1}}


def test_a_key_after_its_merged_namesake_is_still_refused_twice():
    with pytest.raises(DuplicateError, match="a key of 1 character occurs twice"):
        read("b: &b {x: 1}\nc: {<<: *b, x: 2, x: 3}\n")


class TestDocuments:
    def test_empty_ones_count_and_have_no_value(self):
        text = "# nothing yet\n---\n---\na: 1\n...\n---\n# nothing more\n"
        found = list(read_documents(Text("a.yaml", text.encode())))
        assert [(each.number, each.line, each.value) for each in found] == [
            (1, 3, None),
            (2, 4, {"a": 1}),
            (3, 8, None),
        ]

    def test_nothing_is_no_document(self):
        assert read("") == []
        assert read("# only a comment\n") == []

    def test_an_error_names_its_document(self):
        with pytest.raises(DecodeError) as caught:
            read("a: 1\n---\nb: [\n---\nc: 1\n")
        assert (caught.value.place.document, caught.value.place.line) == (2, 4)

    def test_anchors_end_with_their_document(self):
        with pytest.raises(DecodeError, match="unknown anchor referenced"):
            read("a: &x 1\n---\nb: *x\n")

    def test_progress_is_told_after_each_document(self):
        told: list[int] = []
        list(read_documents(Text("a.yaml", b"a: 1\n---\nb: 2\n"), told.append))
        assert told == sorted(told)
        assert len(told) == 2


class TestBounds:
    def test_aliases_may_repeat_a_little(self):
        values = ", ".join(["*x"] * 50)
        assert read(f"x: &x {{a: 1}}\nmany: [{values}]\n")[0]["many"] == [{"a": 1}] * 50

    def test_documents_share_the_bound_on_aliases(self):
        document = f"x: &x [{'0,' * 100}]\nmany: [{'*x,' * 350}]\n"
        assert len(read(f"{document}---\n{document}")) == 2
        with pytest.raises(DecodeError, match="excessive aliasing") as caught:
            read(f"{document}---\n" * 3)
        assert caught.value.place.document == 3

    def test_a_large_text_may_repeat_as_much_as_it_writes(self):
        read(f"x: &x [{'0,' * 50_000}]\nagain: *x\n")

    def test_depth_counts_through_aliases(self):
        lines = ["a0: &a0 [1]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 300)]
        with pytest.raises(DecodeError, match="nested more than 256 levels deep"):
            read("\n".join(lines))

    def test_the_deepest_nesting_allowed_is_read(self):
        text = "[" * 256 + "]" * 256
        assert read(text) == [pyyaml.safe_load(text)]
        with pytest.raises(DecodeError):
            read("[" + text + "]")
