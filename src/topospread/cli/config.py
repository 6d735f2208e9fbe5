"""``topospread config``: validate, convert and show scheduler configurations."""

from __future__ import annotations

import json
from typing import Any

import click

from topospread.config.gates import read_gates
from topospread.config.versions import NEWEST
from topospread.errors import Place
from topospread.text import one_line

from .inputs import COLOUR, PATH, read_configuration
from .output import check_outputs, output_options, write_answer
from .standard_input import standard_input
from .terminal import has_colours, width, written
from .terminal import show as show_text
from .usage import EXITS_WORKED, Explained, ExplainedGroup

HELP = """\
Check, convert and show kube-scheduler configurations (KubeSchedulerConfiguration), also inside a ConfigMap.

\b
Examples:
  topospread config validate scheduler.yaml
  topospread config show scheduler.yaml --kube-version 1.27
  topospread config convert scheduler.yaml --to v1
"""

VERSION = click.option(
    "--kube-version", default=str(NEWEST), metavar="VERSION", help="Act as this Kubernetes (1.18 … 1.37)."
)
GATES = click.option("--feature-gates", default="", metavar="A=true,B=false", help="kube-scheduler's feature gates.")


@click.group(cls=ExplainedGroup, help=HELP)
def config() -> None:
    """The command group ``config``."""


@config.command(
    cls=Explained,
    short_help="Report errors for which kube-scheduler rejects a configuration.",
    help="""\
Report each error for which kube-scheduler rejects a configuration, with its location.

\b
Examples:
  topospread config validate scheduler.yaml
  kubectl get configmap scheduler -o yaml | topospread config validate -
""",
)
@click.argument("file", type=PATH)
@VERSION
@GATES
@click.option("--color", type=COLOUR, default="auto", help="Use colours: on a terminal, always or never.")
@output_options("github")
def validate(**given: Any) -> int:
    """Print every problem with its place; return the exit code of the verdict."""
    check_outputs(given)
    from topospread.answers.config_validate import accepted, refused
    from topospread.render.github import github
    from topospread.sources.configuration import RefusedConfigurationError

    file, version = given["file"], given["kube_version"]
    try:
        configuration = read_configuration(file, read_gates(version, given["feature_gates"]))
    except RefusedConfigurationError as error:
        answer = refused(file, error.listed, version)
    else:
        assert configuration is not None
        answer = accepted(file, configuration.api_version, configuration.warnings, version)
    return write_answer(answer, given, {"github": lambda: github(answer.findings)})


@config.command(
    cls=Explained,
    short_help="Show the effective profiles.",
    help="""\
Show the effective profiles: plugins, their order and weights, default constraints, and the origin of each. Without
FILE, show the defaults.

\b
Examples:
  topospread config show
  topospread config show scheduler.yaml --kube-version 1.27 -o json
  topospread config show --project
""",
)
@click.argument("file", required=False, type=PATH)
@click.option("--project", is_flag=True, help="Show the settings of the project file, with file and line.")
@VERSION
@GATES
@click.option("--color", type=COLOUR, default="auto", help="Use colours: on a terminal, always or never.")
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", help="Output format.")
def show(**given: Any) -> int:
    """Print a configuration with its defaults; without a file, the default configuration."""
    if given["project"]:
        return _show_project()
    from topospread.config.load import default_configuration, standard_configuration
    from topospread.config.show import describe
    from topospread.render.pages.configuration import page
    from topospread.render.text import text

    gates = read_gates(given["kube_version"], given["feature_gates"])
    configuration = read_configuration(given["file"], gates) or default_configuration(gates.kube_version, gates)
    described = describe(configuration, standard_configuration(configuration.api_version, gates))
    if given["output"] == "json":
        click.echo(json.dumps(described, indent=2))
    elif given["output"] == "yaml":
        click.echo(written(described, "yaml"), nl=False)
    else:
        show_text(text(page(described), width=width(), colour=has_colours(given["color"])))
    return 0


def _show_project() -> int:
    from .project import project_settings

    found = project_settings()
    if not found:
        click.echo("no topospread.toml and no [tool.topospread] from here to the repository's root", err=True)
    shown = [(one_line(f"{each.key} = {each.value}"), one_line(str(each.where))) for each in found]
    width = max((len(text) for text, _ in shown), default=0)
    show_text("".join(f"{text:{width}}  {where}\n" for text, where in shown))
    return 0


@config.command(
    cls=Explained,
    exits=EXITS_WORKED,
    short_help="Convert a configuration to another version.",
    help="""\
Convert a configuration to another version and print it as YAML. A field that the version lacks is an error.

\b
Examples:
  topospread config convert scheduler.yaml --to v1
""",
)
@click.argument("file", type=PATH)
@click.option(
    "--to", "version", default="v1", metavar="VERSION", help="v1 (default), v1beta3, v1beta2, v1beta1 or v1alpha2."
)
def convert(file: str, version: str) -> int:
    """Print the converted configuration as YAML."""
    from topospread.config.convert import convert as converted
    from topospread.config.find import find_configuration
    from topospread.sources.configuration import read_single_file

    _, documents = read_single_file(file, standard_input())
    data, place = find_configuration(documents, Place(source=file))
    click.echo(written(converted(data, version, place), "yaml"), nl=False)
    return 0
