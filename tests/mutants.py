"""Change the engine in one place at a time, and see whether the unit tests of the changed package fail.

    python -m tests.mutants [--count 100] [--seed N] [--packages plugins,cluster] [--workers 2] [--only FILE]

Each mutant is one random change: a comparison, a condition, a number, an operator, a loop that does nothing, a call
that is left out. The tests of the package, ``tests/unit/<package>``, run in a fork of this process in which the changed
module replaces the one on disk. No source is written. A mutant dies if a test fails or the tests take over a
minute of CPU.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib.machinery
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import msgspec
import numpy as np
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
UNIT = ROOT / "tests" / "unit"
PACKAGES = ("plugins", "scheduling", "cluster", "simulation", "admission")
LONGEST = 60
"""Seconds of CPU that the tests of one package may take."""
ASLEEP = 900.0
"""Seconds after which a run is killed, whatever it waits for."""
MEMORY = 6 << 30
"""Bytes of address space of one run: a loop that never ends may also grow."""
LOADED = (hypothesis, msgspec, np, yaml)
"""Libraries that every run needs, which its fork has without reading them again."""
QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Hypothesis is loaded before pytest could change its assertions; there are none to change."""

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}

Change = tuple[int, str, Callable[[], object]]
"""A line, what changes there, and a function that changes the tree."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """The change of that number in a file, in the order in which `changes` yields them."""

    file: Path
    number: int
    line: int
    what: str

    @property
    def package(self) -> str:
        return self.file.relative_to(SOURCE / "topospread").parts[0]

    @property
    def module(self) -> str:
        return ".".join(self.file.relative_to(SOURCE).with_suffix("").parts)

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}: {self.what}"

    def tree(self) -> ast.Module:
        """Return the module's changed syntax tree."""
        tree = ast.parse(self.file.read_bytes())
        list(changes(tree))[self.number][2]()
        return ast.fix_missing_locations(tree)


def changes(tree: ast.Module) -> Iterator[Change]:
    """Yield every change that can be made in a module, decorators, annotations and docstrings left out."""
    for node in _code(tree):
        yield from _of_expression(node)
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(body, list):
                yield from _of_statements(body)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params", "bases", "keywords"} and not isinstance(
            node, ast.Call
        ):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
                continue
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _code(child)


def _of_expression(node: ast.AST) -> Iterator[Change]:
    def put(**fields: object) -> Callable[[], object]:
        return lambda: [setattr(node, name, value) for name, value in fields.items()]

    match node:
        case ast.Compare(lineno=line):
            for i, operator in enumerate(node.ops):
                other = _COMPARED[type(operator)]
                ops = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                yield line, f"{type(operator).__name__} became {other.__name__}", put(ops=ops)
        case ast.BoolOp(lineno=line, op=ast.And()):
            yield line, "and became or", put(op=ast.Or())
        case ast.BoolOp(lineno=line):
            yield line, "or became and", put(op=ast.And())
        case ast.UnaryOp(lineno=line, op=ast.Not()):
            yield line, "not was left out", put(operand=_negated(node.operand))
        case ast.BinOp(lineno=line) | ast.AugAssign(lineno=line) if type(node.op) in _COMPUTED:
            other = _COMPUTED[type(node.op)]
            yield line, f"{type(node.op).__name__} became {other.__name__}", put(op=other())
        case ast.Constant(lineno=line, value=bool(value)):
            yield line, f"{value} became {not value}", put(value=not value)
        case ast.Constant(lineno=line, value=int(value)):
            yield line, f"{value} became {value + 1}", put(value=value + 1)
        case ast.If(lineno=line) | ast.While(lineno=line) | ast.IfExp(lineno=line):
            yield line, "the condition was turned around", put(test=_negated(node.test))
        case ast.comprehension(ifs=[_, *_]):
            line = node.ifs[0].lineno
            yield line, "the filter was turned around", put(ifs=[_negated(node.ifs[0]), *node.ifs[1:]])
        case ast.For(lineno=line):
            yield line, "the loop does nothing", put(iter=ast.Tuple(elts=[], ctx=ast.Load()))
        case ast.Return(lineno=line, value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield line, "nothing is returned", put(value=ast.Constant(value=None))


def _of_statements(body: list[ast.stmt]) -> Iterator[Change]:
    def put(i: int, other: ast.stmt) -> Callable[[], object]:
        return lambda: body.__setitem__(i, other)

    for i, each in enumerate(body):
        match each:
            case ast.Break():
                yield each.lineno, "break became continue", put(i, ast.Continue())
            case ast.Continue():
                yield each.lineno, "continue became break", put(i, ast.Break())
            case ast.Expr(value=ast.Call()) | ast.AugAssign():
                yield each.lineno, f"left out: {ast.unparse(each)[:60]}", put(i, ast.Pass())


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(op=ast.Not(), operand=copy.copy(test))


def mutants(files: list[Path]) -> list[Mutant]:
    """Return all mutants of files."""
    return [
        Mutant(file, number, line, what)
        for file in files
        for number, (line, what, _) in enumerate(changes(ast.parse(file.read_bytes())))
    ]


def unit_tests(package: str, first: Path | None = None) -> list[str]:
    """Return the test files of a package; the one that mirrors the module ``first`` runs first."""
    files = sorted((UNIT / package).rglob("test_*.py"))
    if first is not None:
        of_module = first.relative_to(SOURCE / "topospread")
        mirrored = UNIT / of_module.parent / f"test_{of_module.name}"
        files.sort(key=lambda file: (file != mirrored, file.parent != mirrored.parent))
    return [str(file) for file in files]


def in_fork(package: str, mutant: Mutant | None, log: Path) -> int:
    """Start the package's tests in a fork, with the mutant in the place of its module; return the process."""
    if process := os.fork():
        return process
    code = 99
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
        os.setpgid(0, 0)
        out = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        if mutant is not None:
            _replace(mutant)
        words = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", *QUIET]
        code = int(pytest.main([*words, *unit_tests(package, mutant and mutant.file)]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _replace(mutant: Mutant) -> None:
    """Let the import of the mutant's module give the changed one."""
    read = importlib.machinery.SourceFileLoader.get_code
    changed = compile(mutant.tree(), str(mutant.file), "exec")

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> object:
        return changed if fullname == mutant.module else read(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def run(drawn: list[Mutant], workers: int, folder: Path) -> list[Mutant]:
    """Run the tests for each mutant; return those that survive."""
    waiting, running, survivors = list(reversed(drawn)), dict[int, tuple[Mutant, float]](), list[Mutant]()
    while waiting or running:
        while waiting and len(running) < workers:
            mutant = waiting.pop()
            log = folder / f"{mutant.module}.{mutant.number}.log"
            running[in_fork(mutant.package, mutant, log)] = mutant, time.monotonic()
        process, status = os.waitpid(-1, os.WNOHANG)
        if process:
            mutant, _ = running.pop(process)
            if status == 0:
                survivors.append(mutant)
                print(f"survived: {mutant}", flush=True)
            continue
        for each, (_, began) in running.items():
            if time.monotonic() - began > ASLEEP:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(each, signal.SIGKILL)
        time.sleep(0.05)
    return survivors


def main() -> int:
    """Draw mutants and run the tests; return 1 if fewer than nine in ten die."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--packages", default=",".join(PACKAGES))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=Path, help="draw mutants of this file only")
    options = parser.parse_args()
    os.chdir(ROOT)
    folder = ROOT / "build" / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    packages = options.packages.split(",")
    files = [file for each in packages for file in sorted((SOURCE / "topospread" / each).rglob("*.py"))]
    if options.only:
        files = [options.only.resolve()]
        packages = [Mutant(files[0], 0, 0, "").package]
    for package in packages:
        _, status, used = os.wait4(in_fork(package, None, folder / f"{package}.log"), 0)
        seconds = used.ru_utime + used.ru_stime
        print(f"{package}: tests {'fail' if status else 'pass'} unchanged in {seconds:.0f} s of CPU", flush=True)
        if status:
            return 2
    all_mutants = mutants(files)
    drawn = random.Random(options.seed).sample(all_mutants, min(options.count, len(all_mutants)))
    print(f"{len(drawn)} of {len(all_mutants)} mutants, seed {options.seed}", flush=True)
    died = len(drawn) - len(run(drawn, options.workers, folder))
    print(f"{died} of {len(drawn)} mutants died")
    return 0 if died * 10 >= len(drawn) * 9 else 1


if __name__ == "__main__":
    sys.exit(main())
