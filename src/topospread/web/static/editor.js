// The page on which a manifest is written: the text goes to the server while it is typed, and what comes back is shown.

import { manifestEditor } from "./editor-text.js";
import { element, plural } from "./elements.js";
import { NodeMap } from "./map.js";

const QUIET = 250; // milliseconds without a key
const SIGN = { error: "✕", warning: "!", hint: "i" };
const by = (id) => document.getElementById(id);

class Draft {
  constructor() {
    Object.assign(this, { map: new NodeMap(by("map").querySelector("div"), { point: (node) => this.point(node), choose: () => {} }), editor: manifestEditor(by("editor"), () => this.later()), waiting: 0, asking: false, again: false, usual: by("map").querySelector("figcaption").textContent });
    by("start").addEventListener("submit", (event) => event.preventDefault());
    by("example").addEventListener("change", () => this.chooseExample());
    by("cluster").addEventListener("change", () => this.chooseCluster());
    by("wishes").addEventListener("input", () => this.later());
  }

  later() {
    document.body.dataset.state = "typing";
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.ask(), QUIET);
  }

  // One question at a time: what was typed meanwhile is asked next, and only the last of it.
  async ask() {
    this.again = this.asking;
    if (this.asking) return;
    this.asking = true;
    await this.show(this.editor.text()).finally(() => { this.asking = false; });
    if (this.again) await this.ask();
  }

  async show(text) {
    const [example, cluster, wishes] = ["example", "cluster", "wishes"].map((each) => by(each).value);
    sessionStorage.setItem("written", JSON.stringify({ text, from: [example, cluster, wishes] }));
    const on = { example: `example:${example}`, synthetic: wishes.trim() }[cluster] ?? "";
    let told;
    try {
      const answer = await fetch(`/api/draft?cluster=${encodeURIComponent(on)}`, { method: "POST", headers: { "Content-Type": "text/plain" }, body: text });
      const body = await answer.text();
      told = answer.headers.get("Content-Type")?.startsWith("application/json") ? JSON.parse(body) : { error: body };
    } catch {
      told = { error: "topospread does not answer: it was stopped, or the network is gone." };
    }
    if (told.error !== undefined) told = { findings: [], problems: [{ message: told.error, line: null }], simulation: null };
    const found = [...told.problems.map((each) => ({ ...each, severity: "error", rule: "" })),
      ...told.findings.map((each) => ({ ...each, severity: each.level, message: each.says }))];
    this.editor.mark(found);
    this.list(found);
    by("landing").innerHTML = told.landing ?? ""; // the server's own template, in which every name is escaped
    this.picture = told.picture ?? null; // null: there is none, or it would be too large to be drawn at every key
    by("map").hidden = !this.picture;
    this.point(-1);
    if (this.picture) this.map.show(this.picture, { key: 0, fill: "most", workload: -1, constraint: null, rejected: null, node: "" });
    by("summary").textContent = inWords(told);
    document.body.dataset.state = "shown";
  }

  point(node) {
    const { nodes, workloads } = this.picture ?? { nodes: { pods: [] } }, pods = [], words = by("map").querySelector("figcaption");
    for (let at = 0; at < (nodes.pods[node]?.length ?? 0); at += 2) pods.push(`${nodes.pods[node][at + 1]} of ${workloads.name[nodes.pods[node][at]]}`);
    words.textContent = nodes.pods[node] ? `${nodes.name[node]}: ${pods.join(", ") || "no pods"}` : this.usual;
  }

  // Findings and problems as a list whose items lead to their lines.
  list(found) {
    by("findings").replaceChildren(...found.map(({ severity, message, rule, line, column }) => element("li", {},
      element("button", { type: "button", className: severity, disabled: !line, onclick: () => this.editor.goTo(line, column) },
        element("span", { className: "sign", ariaHidden: "true" }, SIGN[severity]), element("span", {}, message),
        element("span", { className: "where" }, [severity, rule, line && `line ${line}`].filter(Boolean).join(" · "))))));
    by("no-findings").hidden = found.length > 0;
  }

  async begin(name) {
    const cluster = by("cluster");
    cluster.querySelector('[value="example"]').hidden = !name;
    by("why").hidden = !name;
    if (!name) {
      if (cluster.value === "example") cluster.value = "served";
      return this.chooseCluster();
    }
    const { why, manifest } = await (await fetch(`/api/example?name=${encodeURIComponent(name)}`)).json();
    by("why").textContent = why;
    cluster.value = "example";
    this.chooseCluster();
    this.editor.replace(manifest);
  }

  chooseExample() {
    const address = new URL(location.href), { value } = by("example");
    address.searchParams[value ? "set" : "delete"]("example", value);
    history.replaceState(null, "", address);
    this.begin(value);
  }

  chooseCluster() {
    by("synthetic").hidden = by("cluster").value !== "synthetic";
    this.later();
  }

  // What was written in this tab is there again after a reload, unless the address asks for another example.
  async open() {
    const asked = new URLSearchParams(location.search).get("example"), kept = JSON.parse(sessionStorage.getItem("written"));
    const isKept = kept !== null && (asked ?? kept.from[0]) === kept.from[0];
    by("example").value = isKept ? kept.from[0] : asked ?? "demo";
    if (!by("example").value) by("example").value = "";
    await this.begin(by("example").value);
    if (!isKept) return;
    [by("cluster").value, by("wishes").value] = kept.from.slice(1);
    this.chooseCluster();
    this.editor.replace(kept.text);
  }
}

function inWords({ findings, problems, simulation }) {
  if (problems.length > 0) return problems[0].line ? `Line ${problems[0].line}: ${problems[0].message}` : problems[0].message;
  const pods = simulation?.workloads.reduce((sum, each) => sum + each.replicas, 0) ?? 0;
  const pending = simulation?.pending.reduce((sum, each) => sum + each.pods.length, 0) ?? 0;
  const parts = [pending > 0 ? `${pending} of ${plural(pods, "pod")} wait` : `${plural(pods, "pod")}, none waits`];
  const others = simulation?.othersPending ?? 0;
  if (others > 0) parts.push(`${plural(others, "other pod")} of the cluster wait${others === 1 ? "s" : ""}`);
  parts.push(findings.length > 0 ? plural(findings.length, "finding") : "no findings");
  return parts.join(" · ");
}

new Draft().open();
