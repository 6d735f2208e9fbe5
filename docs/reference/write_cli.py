"""Prints the page `cli.md` from the command itself; a test holds the page to it.

python docs/reference/write_cli.py > docs/reference/cli.md
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from topospread.cli.main import topospread

HEAD = """\
# The command

Printed from the command's own help by `python docs/reference/write_cli.py`.

| exit code | |
|---|---|
| 0 | the answer is yes: every pod is placed |
| 1 | the answer is no: pods stay pending, whether `-n` shows them or not |
| 2 | bad input or usage: one message on stderr that names the place, nothing on stdout |
| 3 | a fault of topospread itself (with `TOPOSPREAD_DEBUG=1` it shows where), or output that cannot be written |
| 4 | the answer is unknown: topospread does not model a part of a pod that decides (`simulate`) |
| 130 | interrupted |
| 141 | whoever read the output stopped reading |

What is asked for goes to stdout. Errors go to stderr, and so do warnings where the output is not the table, which has
them itself. A progress bar shows on stderr when reading or placing takes longer than a second on a terminal.

Colour is used on a terminal only, and not where `NO_COLOR` is set or `TERM` is `dumb`; `--color always` and
`--color never` decide against all that. Nothing is told by colour alone. Without a terminal lines are 80 columns wide.

The command line comes before the environment, the environment before the project file:

| option | environment | key of the project file |
|---|---|---|
| `--on` | `TOPOSPREAD_ON` | `on` |
| `-n` | `TOPOSPREAD_NAMESPACE` | `namespace` |
| `-o` | `TOPOSPREAD_OUTPUT` | `output` |
| `--kube-version` | `TOPOSPREAD_KUBE_VERSION` | `kube-version` |
| `--config`, `--pools` | | `config`, `pools` |
| `--allow-unknown` | | `unknown = "allow"` |

The project file is `topospread.toml`, or `[tool.topospread]` of `pyproject.toml`, the nearest upwards in the
repository. Its paths stay in the repository. It names no live cluster and writes no file, as a stranger may have
written it. `plan` reads the file of the old state. `lint` reads its own settings first, and no project file with
`--settings`. `topospread config show --project` shows what it sets, and where.

As a kubectl plugin (`kubectl-topospread` on the `PATH`) the command is `kubectl topospread`; kubectl's own completion
completes it by `kubectl_complete-topospread`.
"""


def pages(command: click.Command, context: click.Context) -> Iterator[str]:
    """A command's help and those of the commands below it, as sections."""
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            with click.Context(below, info_name=name, parent=context, **below.context_settings) as inner:
                yield from pages(below, inner)


if __name__ == "__main__":
    with click.Context(topospread, info_name="topospread", terminal_width=78, **topospread.context_settings) as root:
        print("\n\n".join([HEAD.rstrip(), *pages(topospread, root)]))
