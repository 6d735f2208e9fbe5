import pytest

from topospread.api.label_syntax import invalid, label_key_problems, label_value_problems, quoted

NAME = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with"


@pytest.mark.parametrize("key", ["a", "A.b_c-1", "example.com/x", "a" * 63, f"{'a.' * 126}a/x"])
def test_good_keys(key):
    assert label_key_problems(key) == []


@pytest.mark.parametrize(
    ("key", "beginnings"),
    [
        ("", ["name part must be non-empty", NAME]),
        ("a" * 64, ["name part must be no more than 63 bytes"]),
        ("é" * 32, ["name part must be no more than 63 bytes", NAME]),
        ("-a", [NAME]),
        ("a\n", [NAME]),
        ("/a", ["prefix part must be non-empty"]),
        ("a/", ["name part must be non-empty", NAME]),
        ("Example.com/a", ["prefix part a lowercase RFC 1123 subdomain must consist of"]),
        (f"{'a' * 254}/a", ["prefix part must be no more than 253 bytes"]),
        ("a/b/c", ["a valid label key must consist of"]),
    ],
)
def test_bad_keys(key, beginnings):
    problems = label_key_problems(key)
    assert len(problems) == len(beginnings)
    assert all(problem.startswith(beginning) for problem, beginning in zip(problems, beginnings, strict=True))


def test_values():
    assert label_value_problems("") == label_value_problems("a" * 63) == label_value_problems("1.0_a-B") == []
    assert label_value_problems("a" * 64) == ["must be no more than 63 bytes"]
    assert label_value_problems("x y") == [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
    ]


@pytest.mark.parametrize(
    ("text", "go"),
    [
        ('a"b\\', r'"a\"b\\"'),
        ("\n\t\x00\x7f", r'"\n\t\x00\x7f"'),
        ("é 😀", '"é 😀"'),
        ("\u2028\U000e0001", r'"\u2028\U000e0001"'),
    ],
)
def test_text_is_quoted_as_go_quotes_it(text, go):
    assert quoted(text) == go


def test_refused_values_are_shown_as_go_shows_them():
    assert invalid("key", "a b", "why") == 'key: Invalid value: "a b": why'
    assert invalid("values", None, "why") == "values: Invalid value: null: why"
    assert invalid("values", ["<é>"], "why") == r'values: Invalid value: ["\u003cé\u003e"]: why'
