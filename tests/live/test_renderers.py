"""Charts and kustomizations through the real helm, kustomize and `kubectl kustomize`, built from their Go modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TOPOSPREAD = Path(sys.executable).parent / "topospread"
CLUSTER = ("--on", "zones=3,nodes=6")
Done = subprocess.CompletedProcess[str]

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: failure-domain.beta.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
      containers:
      - name: web
        image: pause
"""
TREE = {
    "base/kustomization.yaml": "resources: [deployment.yaml]\n",
    "base/deployment.yaml": DEPLOYMENT,
    "zone/kustomization.yaml": (
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
        "configMapGenerator: [{name: settings, literals: [a=b]}]\n"
    ),
    "overlays/prod/kustomization.yaml": (
        "namespace: shop\nnamePrefix: prod-\nresources: [../../base]\ncomponents: [../../zone]\n"
        "replicas: [{name: web, count: 9}]\ncommonAnnotations: {a: b}\npatches: [{path: patch.yaml}]\n"
    ),
    "overlays/prod/patch.yaml": (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {minReadySeconds: 5}\n"
    ),
    "overlays/prod/unused.yaml": "kind: Deployment\nmetadata: {name: web}\n",
}
CHART = {
    "web/Chart.yaml": 'apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: ">=1.30.0-0"\n',
    "web/values.yaml": "replicas: 2\nzone: topology.kubernetes.io/zone\n",
    "web/templates/deployment.yaml": DEPLOYMENT.replace("name: web\nspec", "name: {{ .Release.Name }}\nspec")
    .replace("replicas: 2", "replicas: {{ .Values.replicas }}\n  # on {{ .Capabilities.KubeVersion }}")
    .replace("failure-domain.beta.kubernetes.io/zone", "{{ .Values.zone }}"),
    "web/charts/cache/Chart.yaml": "apiVersion: v2\nname: cache\nversion: 1.0.0\n",
    "web/charts/cache/templates/pod.yaml": (
        "{{- with .Values.prio }}\napiVersion: v1\nkind: Pod\nmetadata: {name: cache}\nspec:\n"
        "  priority: {{ . }}\n  restartPolicy: Sometimes\n  containers: [{name: a, image: b}]\n{{- end }}\n"
    ),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    for name, text in (TREE | CHART).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(project: Path, path: str, *words: str) -> Done:
    environment = {name: os.environ[name] for name in ("HOME", "PYTHONPATH") if name in os.environ} | {"PATH": path}
    return subprocess.run(
        [TOPOSPREAD, *words], cwd=project, env=environment, capture_output=True, text=True, check=False
    )


def placed(done: Done) -> dict[str, str]:
    """Each workload of the table that `simulate` prints, and how many of its pods find nodes."""
    rows = done.stdout.partition("\nWORKLOAD ")[2].splitlines()[1:]
    return dict(row.split()[:2] for row in rows)


def kubectl_alone(live: Path, tmp_path: Path) -> str:
    """A PATH with kubectl and no kustomize."""
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "kubectl").symlink_to(live / "kubectl")
    return str(tmp_path / "only")


@pytest.mark.parametrize("program", ["kustomize", "kubectl"])
def test_an_overlay_is_built_and_nothing_below_is_read_alone(
    renderers: Path, kubectl: Path, project: Path, program: str
) -> None:
    path = str(renderers) if program == "kustomize" else kubectl_alone(kubectl, project)
    done = run(project, path, "simulate", "-f", "overlays", "-f", "base", "--render", "never", *CLUSTER)
    assert done.returncode == 2, "read raw, the kustomization is no manifest"
    done = run(project, path, "simulate", "-f", "overlays", *CLUSTER)
    # The nodes lack the old key: what counts here is which pods there are.
    assert placed(done) == {"shop/prod-web": "0/9"}, done.stderr
    assert done.stdout.startswith("no: 9 of 9 pods ")
    assert "overlays/prod/unused.yaml: not read, no kustomization refers to it" in " ".join(done.stdout.split())


def test_what_kustomize_prints_is_what_is_read(renderers: Path, project: Path) -> None:
    code = (
        "import sys; from topospread.sources.folders import look_into; from topospread.sources.files import read_text; "
        "from topospread.sources.rendering import Rendering; "
        "sys.stdout.buffer.write(read_text(look_into('overlays/prod', Rendering()).sources[0]).data)"
    )
    given = os.environ | {"PATH": str(renderers)}
    ours = subprocess.run([sys.executable, "-c", code], cwd=project, env=given, capture_output=True, check=False)
    theirs = subprocess.run(
        [renderers / "kustomize", "build", "overlays/prod"], cwd=project, capture_output=True, check=False
    )
    assert ours.stdout == theirs.stdout != b"", ours.stderr


def test_a_finding_points_into_the_base(renderers: Path, project: Path) -> None:
    done = run(project, str(renderers), "lint", "overlays", "-o", "line", "--select", "beta-topology-key")
    assert done.stdout.startswith("base/deployment.yaml:13:9: warning: "), done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_a_chart_is_rendered_with_values_version_and_release(renderers: Path, project: Path) -> None:
    (project / "v.yaml").write_text("replicas: 7\n")
    words = (
        "simulate",
        "-f",
        "web",
        *CLUSTER,
        "--helm-values",
        "v.yaml",
        "--helm-release",
        "mine",
        "--kube-version",
        "1.33",
    )
    done = run(project, str(renderers), *words)
    assert placed(done) == {"default/mine": "7/7"}, done.stderr
    done = run(project, str(renderers), *words, "--helm-set", "replicas=8", "-n", "demo")
    assert placed(done) == {"demo/mine": "8/8"}
    done = run(project, str(renderers), "simulate", "-f", "web", *CLUSTER, "--kube-version", "1.29")
    assert done.returncode == 2
    assert "web: `helm template` failed: chart requires kubeVersion: >=1.30.0-0" in done.stderr


@pytest.mark.parametrize("version", ["1.37", "1.20"])
def test_a_chart_that_asks_for_a_kind_gets_the_version_that_is_served(
    renderers: Path, project: Path, version: str
) -> None:
    pod = "{restartPolicy: Never, containers: [{name: a, image: b}]}"
    (project / "web" / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (project / "web" / "templates" / "cron.yaml").write_text(
        '{{- if .Capabilities.APIVersions.Has "batch/v1/CronJob" }}\napiVersion: batch/v1\n{{- else }}\n'
        "apiVersion: batch/v1beta1\n{{- end }}\nkind: CronJob\nmetadata: {name: nightly}\n"
        f"spec: {{schedule: '@daily', jobTemplate: {{spec: {{template: {{spec: {pod}}}}}}}}}\n"
    )
    words = ("lint", "web", "-o", "line", "--select", "api-version-not-served", "--kube-version", version)
    done = run(project, str(renderers), *words)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_kustomization_that_is_named_is_simulated_alone(renderers: Path, project: Path) -> None:
    (project / "base" / "beside").mkdir()
    (project / "base" / "beside" / "kustomization.yaml").write_text(
        "configMapGenerator: [{name: a, literals: [b=c]}]\n"
    )
    done = run(project, str(renderers), "simulate", "-f", "base", *CLUSTER)
    assert placed(done) == {"default/web": "0/2"}, done.stderr
    assert "base/beside: not built, because base does not refer to it" in " ".join(done.stdout.split())


def test_a_finding_points_into_the_template(renderers: Path, project: Path) -> None:
    words = ("lint", "web", "-o", "line", "--select", "beta-topology-key")
    done = run(project, str(renderers), *words, "--helm-set", "zone=failure-domain.beta.kubernetes.io/zone")
    # The value comes from outside of the template: its line cannot be told.
    assert done.stdout.startswith("web/templates/deployment.yaml:1:1: warning: "), done.stdout + done.stderr
    done = run(project, str(renderers), "lint", "web", "-o", "line", "--helm-set", "cache.prio=9")
    assert "web/charts/cache/templates/pod.yaml:7:3: error: " in done.stdout, done.stdout + done.stderr


def test_an_error_of_a_template_is_helms(renderers: Path, project: Path) -> None:
    (project / "web/templates/bad.yaml").write_text("{{ .Values.a.b.c }}\n")
    done = run(project, str(renderers), "simulate", "-f", "web", *CLUSTER)
    assert done.returncode == 2
    assert "bad.yaml:1" in done.stderr
    (project / "web/templates/bad.yaml").write_text("a: b\n c: d\n")
    done = run(project, str(renderers), "lint", "web")
    assert done.returncode == 2
    assert "bad.yaml" in done.stderr


def test_a_packed_chart(renderers: Path, project: Path) -> None:
    subprocess.run([renderers / "helm", "package", "web"], cwd=project, check=True, capture_output=True)
    done = run(project, str(renderers), "simulate", "-f", "web-1.0.0.tgz", *CLUSTER)
    assert placed(done) == {"default/web": "2/2"}, done.stderr


_SECRET = "c2VjcmV0LXRva2Vu"
_READS_GIT = (
    "configMapGenerator: [{name: c, files: [config=.git/config]}, {name: d, literals: [x=y]}]",
    "generatorOptions: {disableNameSuffixHash: true}",
    "replacements: [{source: {kind: ConfigMap, name: c, fieldPath: data.config, "
    "options: {delimiter: 'basic ', index: 1}}, "
    "targets: [{select: {kind: ConfigMap, name: d}, fieldPaths: [data.x]}]}, "
    '{source: {kind: ConfigMap, name: d, fieldPath: data.x, options: {delimiter: "\\n", index: 0}}, '
    "targets: [{select: {kind: Deployment, name: web}, "
    "fieldPaths: [spec.template.spec.topologySpreadConstraints.0.topologyKey]}]}",
)
"""Fields of a kustomization that write a part of git's configuration where `lint` quotes it."""
_IN_GENERATOR = (
    "resources: [base]\ngenerators:\n- |\n  %s\n"
    '  {"apiVersion":"builtin","kind":"ConfigMapGenerator","metadata":{"name":"c"},"files":["config=.git/config"],'
    '"options":{"disableNameSuffixHash":true}}\n'
    "configMapGenerator: [{name: d, literals: [x=y]}]\n" + "".join(f"{each}\n" for each in _READS_GIT[1:]) + "  ]\n"
)
"""A text in which kustomize, and no parser of YAML, sees two documents."""


@pytest.mark.parametrize(
    ("folder", "kustomization"),
    [
        (".", f"{{resources: [base,\n\ufeff#/../other.yaml], {', '.join(_READS_GIT)}\n]}}\n"),
        (".", "\ufeff\ufeffresources: [base]\n" + "".join(f"#{each}\n" for each in _READS_GIT) + "#]\n"),
        ("app", f"{{resources: [base], {', '.join(_READS_GIT)}]}}\n"),
        (".", "resources: [!!binary 4oBi]\n"),
        (".", "{resources: !x,foo: [app]}\n"),
        (".", f"{{resources: [base], {', '.join(_READS_GIT).replace('files: [', 'files: !x,labels: [')}]}}\n"),
        (".", _IN_GENERATOR % "~\n  ---#"),
        (".", _IN_GENERATOR % "~\n  ---\u00a0"),
        (".", _IN_GENERATOR % "~\n  --- \u00a0"),
        (".", _IN_GENERATOR % "---#: |\n   "),
    ],
    ids=[
        *("byte order mark", "two byte order marks", "line break", "binary", "comma after a tag", "tag of a generator"),
        *("separator with a comment", "separator with a blank", "separator with an odd text", "separator as a key"),
    ],
)
def test_kustomize_reads_what_was_checked_and_no_secret(
    renderers: Path, project: Path, tmp_path_factory: pytest.TempPathFactory, folder: str, kustomization: str
) -> None:
    """libyaml and kustomize's parser would read different texts, or YAML would fold the name of a folder."""
    (project / ".git/config").write_text(f"[http]\n  extraheader = basic {_SECRET}\n")
    (project / "other.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")
    outside = tmp_path_factory.mktemp("outside")
    (outside / "kustomization.yaml").write_text("resources: [app.yaml]\n")
    (outside / "app.yaml").write_text(DEPLOYMENT.replace("failure-domain.beta.kubernetes.io/zone", _SECRET))
    for name in ("a\nb",) if folder == "app" else ("\ufffdb",):
        (project / name).mkdir()
        (project / name / "kustomization.yaml").write_text("namePrefix: x-\nresources: [../other.yaml]\n")
    for name, target in {"app": "a\nb", "a b": ".", "\ufffd\ufffdb": str(outside)}.items():
        (project / name).symlink_to(target)
    (project / "kustomization.yaml").write_text(kustomization)
    done = run(project, str(renderers), "lint", "-o", "github", folder)
    assert _SECRET not in done.stdout + done.stderr
    assert done.returncode == 2, done


def test_a_chart_in_a_kustomization(renderers: Path, project: Path) -> None:
    (project / "inflated/charts").mkdir(parents=True)
    (project / "web").rename(project / "inflated/charts/web")
    (project / "inflated/kustomization.yaml").write_text("helmCharts: [{name: web, releaseName: shop}]\n")
    words = ("simulate", "-f", "inflated", *CLUSTER)
    done = run(project, f"{renderers}:/usr/bin:/bin", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "add --render-helm" in done.stderr
    done = run(project, f"{renderers}:/usr/bin:/bin", *words, "--render-helm")
    assert placed(done) == {"default/shop": "2/2"}, done.stderr


def test_values_files_are_those_of_each_revision(tmp_path: Path, renderers: Path) -> None:
    def committed(values: str) -> None:
        (tmp_path / "web/prod.yaml").write_text(values)
        for words in (
            ("init",),
            ("add", "-A"),
            ("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-m", "x"),
        ):
            subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "web/templates").mkdir(parents=True)
    (tmp_path / "web/Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (tmp_path / "web/templates/app.yaml").write_text(
        CHART["web/templates/deployment.yaml"].replace("{{ .Values.zone }}", "topology.kubernetes.io/zone")
    )
    committed("replicas: 6")
    committed("replicas: 2")
    words = ("plan", "rev:HEAD~1", "rev:HEAD", "-f", "web", *CLUSTER, "--helm-values", "web/prod.yaml", "--no-lint")
    done = run(tmp_path, f"{renderers}{os.pathsep}/usr/bin", *words)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "replicas 6 → 2" in done.stdout
    for command in ("rm -q web/prod.yaml", "-c user.name=a -c user.email=a@example.org commit -qm x"):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True, capture_output=True)
    done = run(tmp_path, f"{renderers}{os.pathsep}/usr/bin", *words)
    words = "web/prod.yaml: only OLD has this file; add it to NEW, or leave it out"
    assert (done.returncode, done.stderr) == (2, f"error: {words}\n")
