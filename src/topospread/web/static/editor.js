// The page on which a manifest is written: the text goes to the server while it is typed, and what comes back is shown.

import { showFindings } from "./editor-findings.js";
import { showLanding } from "./editor-landing.js";
import { DraftMap } from "./editor-map.js";
import { manifestEditor } from "./editor-text.js";

const QUIET = 250;

const byId = (id) => document.getElementById(id);
const example = byId("example");
const cluster = byId("cluster");
const wishes = byId("wishes");
const summary = byId("summary");

let waiting = null;
let asking = false;
let again = false;

const map = new DraftMap(byId("map"));
const editor = manifestEditor(byId("editor"), () => later());

function later() {
  document.body.dataset.state = "typing";
  clearTimeout(waiting);
  waiting = setTimeout(ask, QUIET);
}

function chosenCluster() {
  if (cluster.value === "example") return `example:${example.value}`;
  return cluster.value === "made-up" ? wishes.value.trim() : "";
}

/** One question at a time: what was typed meanwhile is asked next, and only the last of it. */
async function ask() {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    await show(editor.text());
  } finally {
    asking = false;
  }
  if (again) {
    again = false;
    await ask();
  }
}

async function show(text) {
  let told;
  sessionStorage.setItem("written", JSON.stringify({ text, from: [example.value, cluster.value, wishes.value] }));
  try {
    const address = `/api/draft?cluster=${encodeURIComponent(chosenCluster())}`;
    const answer = await fetch(address, { method: "POST", headers: { "Content-Type": "text/plain" }, body: text });
    const body = await answer.text();
    told = answer.headers.get("Content-Type")?.startsWith("application/json") ? JSON.parse(body) : { error: body };
  } catch {
    told = { error: "topospread does not answer: it was stopped, or the network is gone." };
  }
  if (told.error !== undefined) told = { findings: [], problems: [{ message: told.error, line: null }], simulation: null };
  editor.mark(told.findings, told.problems);
  showFindings(told, (line, column) => editor.goTo(line, column));
  showLanding(byId("landing"), told.simulation);
  map.show(told.picture ?? null);
  summary.textContent = inWords(told);
  document.body.dataset.state = "shown";
}

function inWords({ findings, problems, simulation }) {
  if (problems.length > 0) return problems[0].line ? `Line ${problems[0].line}: ${problems[0].message}` : problems[0].message;
  const pods = simulation?.workloads.reduce((sum, each) => sum + each.replicas, 0) ?? 0;
  const pending = simulation?.pending.reduce((sum, each) => sum + each.pods.length, 0) ?? 0;
  const parts = [pending > 0 ? `${pending} of ${counted(pods, "pod")} wait` : `${counted(pods, "pod")}, none waits`];
  const others = simulation?.othersPending ?? 0;
  if (others > 0) parts.push(`${counted(others, "other pod")} of the cluster wait${others === 1 ? "s" : ""}`);
  parts.push(findings.length > 0 ? counted(findings.length, "finding") : "no findings");
  return parts.join(" · ");
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

async function begin(name) {
  const own = cluster.querySelector('[value="example"]');
  own.hidden = !name;
  byId("why").hidden = !name;
  if (!name) {
    if (cluster.value === "example") cluster.value = "served";
    chooseCluster();
    return;
  }
  const answer = await fetch(`/api/example?name=${encodeURIComponent(name)}`);
  const found = await answer.json();
  byId("why").textContent = found.why;
  cluster.value = "example";
  chooseCluster();
  editor.replace(found.manifest);
}

function chooseCluster() {
  byId("made-up").hidden = cluster.value !== "made-up";
  later();
}

byId("start").addEventListener("submit", (event) => event.preventDefault());
example.addEventListener("change", () => {
  const address = new URL(location.href);
  if (example.value) address.searchParams.set("example", example.value);
  else address.searchParams.delete("example");
  history.replaceState(null, "", address);
  begin(example.value);
});
cluster.addEventListener("change", chooseCluster);
wishes.addEventListener("input", later);

// What was written in this tab is there again after a reload, unless the address asks for another example.
const asked = new URLSearchParams(location.search).get("example");
const kept = JSON.parse(sessionStorage.getItem("written"));
const isKept = kept !== null && (asked ?? kept.from[0]) === kept.from[0];
example.value = isKept ? kept.from[0] : asked ?? "demo";
if (!example.value) example.value = "";
begin(example.value).then(() => {
  if (!isKept) return;
  [cluster.value, wishes.value] = kept.from.slice(1);
  chooseCluster();
  editor.replace(kept.text);
});
