import gzip
import io
import os
import random
import threading
import tracemalloc

import pytest

from topospread.errors import DecodeError, InputError, UsageError
from topospread.sources import files
from topospread.sources.files import SkippedFiles, Source, find_sources, in_time, read_text, total_size
from topospread.sources.folders import look_into
from topospread.sources.rendering import Rendering
from topospread.sources.text import Text, shown_path


def names(path) -> list[str]:
    return [os.path.relpath(source.path, path) for source in find_sources(str(path))]


class TestFolders:
    def test_files_with_the_right_ending_in_the_order_of_their_names(self, tmp_path):
        for name in ("b.yml", "a/z.json", "a/x.yaml.gz", "c.YAML", "a.txt", "d.yaml.bak"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(b"a: 1\n")
        assert names(tmp_path) == ["a/x.yaml.gz", "a/z.json", "b.yml"]
        (tmp_path / ".git").mkdir()
        assert names(tmp_path) == ["a/z.json", "b.yml"]  # a change could hide an object from kubectl alone
        (warning,) = look_into(str(tmp_path), Rendering()).warnings
        assert "c.YAML, " in warning
        assert "a/x.yaml.gz: not read in a folder, because kubectl reads .yaml, .yml and .json there" in warning

    def test_folders_with_a_dot_are_left_out_but_not_the_folder_that_is_named(self, tmp_path):
        for name in (".git/a.yaml", ".b.yaml", "c.yaml"):
            (tmp_path / ".hidden" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / ".hidden" / name).write_bytes(b"")
        assert names(tmp_path / ".hidden") == [".b.yaml", "c.yaml"]

    def test_a_mounted_config_map_is_read_once(self, tmp_path):
        (tmp_path / "..2025").mkdir()
        (tmp_path / "..2025" / "a.yaml").write_bytes(b"")
        (tmp_path / "..data").symlink_to("..2025")
        (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
        assert names(tmp_path) == ["a.yaml"]

    def test_folders_behind_links_are_not_entered_so_loops_end(self, tmp_path):
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "b.yaml").write_bytes(b"")
        (tmp_path / "a" / "again.yaml").symlink_to(tmp_path)
        assert names(tmp_path) == ["a/b.yaml"]

    def test_pipes_in_a_folder_are_left_alone(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.yaml")
        (tmp_path / "a.yaml").write_bytes(b"")
        assert names(tmp_path) == ["a.yaml"]

    def test_a_folder_without_files_to_read_is_an_error(self, tmp_path):
        (tmp_path / "notes.txt").write_bytes(b"")
        with pytest.raises(InputError, match=r"no file in this folder ends in \.yaml, \.yml, \.json") as caught:
            find_sources(str(tmp_path))
        assert caught.value.place.source == str(tmp_path)

    def test_a_link_to_nowhere_is_skipped_with_a_warning(self, tmp_path):
        (tmp_path / "a.yaml").symlink_to("gone.yaml")
        (tmp_path / "loop.yaml").symlink_to("loop.yaml")
        (tmp_path / "web.yaml").write_bytes(b"")
        skipped = SkippedFiles()
        assert [each.name for each in find_sources(str(tmp_path), skipped)] == [f"{tmp_path}/web.yaml"]
        assert skipped.warnings() == [f"{tmp_path}/a.yaml, {tmp_path}/loop.yaml: link to nowhere, skipped"]

    def test_a_folder_with_a_link_to_nowhere_alone_is_an_error(self, tmp_path):
        (tmp_path / "a.yaml").symlink_to("gone.yaml")
        with pytest.raises(
            InputError, match=r"no file in this folder can be read\. .*a\.yaml: link to nowhere, skipped"
        ):
            find_sources(str(tmp_path))


@pytest.mark.parametrize(
    ("path", "words"),
    [("", "the path is empty"), ("a\0b", "the path is empty"), ("gone.yaml", "cannot be read: No such file")],
)
def test_paths_that_are_none(path, words):
    with pytest.raises(InputError, match=words):
        find_sources(path)


def test_a_link_to_itself_is_an_error(tmp_path):
    (tmp_path / "a.yaml").symlink_to("a.yaml")
    with pytest.raises(InputError, match="cannot be read: Too many levels of symbolic links"):
        find_sources(str(tmp_path / "a.yaml"))


def test_links_to_files_are_counted_over_all_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_MAX_LINKED_FILES", 3)
    (tmp_path / "a.yaml").write_text("a: 1\n")
    for number in range(4):
        (tmp_path / str(number)).mkdir()
        assert len(find_sources(str(tmp_path))) == 1 + number
        (tmp_path / str(number) / "l.yaml").symlink_to("../a.yaml")
    with pytest.raises(InputError, match="more than 3 links to files to read; name fewer folders"):
        find_sources(str(tmp_path))


def test_what_may_not_be_read_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "a.yaml").write_bytes(b"")
    sources = find_sources(str(tmp_path / "a.yaml"))

    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match=r"a\.yaml: cannot be read: Permission denied"):
        read_text(sources[0])


def test_a_file_that_is_named_may_have_any_ending_and_be_a_pipe(tmp_path):
    path = tmp_path / "pods"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"a: 1\n",))
    writer.start()
    (source,) = find_sources(str(path))
    assert read_text(source).data == b"a: 1\n"
    writer.join()
    assert source.size is None


class TestText:
    def test_standard_input(self):
        (source,) = find_sources("-")
        assert read_text(source, io.BytesIO(b"a: 1\n")).data == b"a: 1\n"
        assert total_size([source]) is None
        with pytest.raises(UsageError, match="standard input"):
            read_text(source)

    def test_gzip_is_unpacked_whatever_the_name_all_members(self):
        packed = gzip.compress(b"a: 1\n") + gzip.compress(b"b: 2\n") + b"\0" * 16
        assert read_text(Source("-", None), io.BytesIO(packed)).data == b"a: 1\nb: 2\n"

    def test_damaged_gzip_is_an_error(self):
        packed = bytearray(gzip.compress(b"a: 1\n" * 100))
        packed[-5] ^= 1
        with pytest.raises(InputError, match="this gzip file is damaged"):
            read_text(Source("-", None), io.BytesIO(bytes(packed)))

    def test_a_byte_order_mark_is_dropped(self):
        assert read_text(Source("-", None), io.BytesIO(b"\xef\xbb\xbfa: 1\n")).data == b"a: 1\n"

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le"])
    def test_other_encodings_are_refused(self, encoding):
        with pytest.raises(DecodeError, match=r"UTF-16|UTF-32|NUL"):
            read_text(Source("-", None), io.BytesIO("a: 1\n".encode(encoding)))

    def test_a_character_cut_between_two_chunks_is_whole(self, monkeypatch):
        monkeypatch.setattr(files, "_CHUNK", 2)
        assert read_text(Source("-", None), io.BytesIO("a: é€😀é\n".encode())).data.decode() == "a: é€😀é\n"

    @pytest.mark.parametrize(
        ("data", "line", "column"), [(b"a\nbb\xff", 2, 3), (b"a\n\xe2\x82", 2, 1), (b"\xf0\x9f\x98a", 1, 1)]
    )
    @pytest.mark.parametrize("chunk", [1, 2, 3, 1000])
    def test_what_is_not_utf8_is_placed(self, data, line, column, chunk, monkeypatch):
        monkeypatch.setattr(files, "_CHUNK", chunk)
        with pytest.raises(DecodeError, match="is not UTF-8") as caught:
            read_text(Source("-", None), io.BytesIO(data))
        assert (caught.value.place.line, caught.value.place.column) == (line, column)

    def test_endless_input_is_given_up(self, monkeypatch):
        monkeypatch.setattr(files, "MAX_OTHER", 1 << 20)
        with open("/dev/zero", "rb") as zeros, pytest.raises(DecodeError, match="NUL"):
            read_text(Source("-", None), zeros)
        for data in (b"a" * 1_048_577, gzip.compress(random.Random(1).randbytes(600_000).hex().encode())):
            with pytest.raises(InputError, match="the text is larger than 1 MiB; split it"):
                read_text(Source("-", None), io.BytesIO(data))

    def test_json_may_be_larger_than_yaml(self, monkeypatch):
        monkeypatch.setattr(files, "MAX_OTHER", 1 << 20)
        monkeypatch.setattr(files, "MAX_JSON", 2 << 20)
        data = b'{"a":"' + random.Random(1).randbytes(600_000).hex().encode() + b'"}'
        assert read_text(Source("-", None), io.BytesIO(gzip.compress(data))).data == data
        with pytest.raises(InputError, match="larger than 2 MiB"):
            read_text(Source("-", None), io.BytesIO(data + b" " * (1 << 20)))

    @pytest.mark.parametrize("begin", [b"{", b"a: "])
    def test_a_gzip_bomb_is_given_up_before_it_fills_the_memory(self, begin):
        packed = gzip.compress(begin + b" " * (200 << 20), 9)
        assert len(packed) < 300_000
        tracemalloc.start()
        with pytest.raises(InputError, match="more than 250 times as large"):
            read_text(Source("-", None), io.BytesIO(packed))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 200 << 20


def test_paths_are_shown_on_one_line():
    assert shown_path("a\nb\x1b[31m.yaml") == "a\\nb\\x1b[31m.yaml"
    assert shown_path(os.fsdecode(b"caf\xe9.yaml")) == "caf\\udce9.yaml"


class NoUnit:
    noun = "chart"

    def check(self) -> None:
        """Nothing is missing."""

    def render(self) -> Text:
        return Text("chart", b"")


def test_all_charts_of_a_path_have_a_time_together(monkeypatch):
    """One that is slow has a limit of its own; a hundred of them would take hours."""
    now = iter([0.0, 500.0, 601.0])
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    sources = [Source(name, 0, NoUnit()) for name in "abc"]
    found = in_time([sources[0], Source("plain.yaml", 0), *sources[1:]])
    assert [next(found).path for _ in range(3)] == ["a", "plain.yaml", "b"]
    with pytest.raises(InputError, match="c: charts and kustomizations before this one took 600 seconds"):
        next(found)


def test_kubectl_reads_one_object_of_json_after_a_byte_order_mark(tmp_path):
    path = tmp_path / "a.json"
    for text, fits in (
        ('{"a": 1}\n', True),
        ("{a: 1}\n", True),
        ('{"a": 1}{"b": 2}', False),
        ('\n{"a": 1}\n{}', False),
    ):
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        if fits:
            assert read_text(Source(str(path), None)).data == text.encode()
        else:
            with pytest.raises(DecodeError, match="kubectl reads only the first"):
                read_text(Source(str(path), None))
