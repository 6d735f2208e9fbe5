// The page of the map: what is in the address is asked for and shown, and whatever is chosen goes into the address.

import { putAddress, readAddress, request } from "./address.js";
import { breakable, copy, element } from "./elements.js";
import { save } from "./export.js";
import { ask } from "./fetching.js";
import { countOf, NodeMap } from "./map.js";
import { Overview } from "./overview.js";
import { isRecorded } from "./recorded.js";
import { drawLimit, spreadAnswered, spreadOf } from "./spreads.js";
import { stackTables } from "./stacking.js";
import { domainTable, percent, words } from "./table.js";
import { Trial } from "./trial.js";
import { workloadList } from "./workloads.js";

const by = (id) => document.getElementById(id);
const panel = by("panel");
const pictures = new Map();
let view = readAddress();
let frames = [];
let now = null;
let beforehand = null;
let constraint = null;
let rejected = null;
let unjudged = 0;
let turn = 0;
let settled = null;
let asking = new AbortController();

const map = new NodeMap(by("now").querySelector("div"), { point: pointAt, choose: chooseNode });
const overview = new Overview(by("figures"), by("matrix"), {
  filter: (filter) => go({ filter }),
  workload: chooseWorkload,
  node: chooseNode,
});
const trial = new Trial(by("trial"), by("result"), { go: (changes) => go(changes), choose: (steps) => go({ steps, at: "", beside: view.beside }) });

// Changes of what is looked at: a new entry in the history, as Back has to go back.
function go(changes) {
  const before = view;
  say("other", "");
  view = { ...view, ...changes };
  putAddress(view, true);
  // What only chooses something in the same moment needs nothing of the trial anew.
  const same = now && before.at === view.at && before.beside === view.beside && before.steps.join("\n") === view.steps.join("\n");
  if (!same) return refresh();
  turn++;
  fillKeys();
  return showChosen();
}

async function picture(at, signal, steps = view.steps) {
  const address = request("/api/picture", steps, at);
  if (!pictures.has(address)) {
    pictures.set(address, await ask(address, signal));
    if (pictures.size > 12) pictures.delete(pictures.keys().next().value);
  }
  return pictures.get(address);
}

async function refresh() {
  const mine = ++turn;
  asking.abort(); // nobody needs the answers before
  asking = new AbortController();
  const { signal } = asking;
  const late = setInterval(() => {
    trial.working(view.steps, cancel);
    if (view.steps.length && !isRecorded) ask(request("/api/progress", view.steps, "")).then(({ says }) => trial.says(says), () => {});
  }, 300);
  try {
    // While steps are played, things are shown as they were read.
    if (!now && view.steps.length) picture("0", signal, []).then((found) => now || drawSoon(found), () => {});
    // The map needs no list of frames: both are asked for at once, and it is drawn as soon as it is there.
    const drawing = picture(view.at, signal).then((found) => {
      if (mine === turn) drawSoon(found);
      return found;
    });
    const [told, drawn] = await Promise.all([ask(request("/api/trial", view.steps, view.at), signal), drawing]);
    if (mine !== turn) return;
    frames = told.frames;
    unjudged = told.unjudged;
    now = drawn;
    by("maps").dataset.at = told.at;
    showFrames(told.at);
    fillKeys();
    trial.show(view, told, now);
    await showBeside(told.at);
    settled = view;
    say("answer", "");
  } catch (error) {
    if (mine !== turn) return;
    say("answer", error.message);
    trial.refused(view, error);
    if (!now) throw error;
  } finally {
    clearInterval(late);
  }
  await showChosen();
}

// Back to what was shown before.
function cancel() {
  asking.abort();
  trial.work.replaceChildren();
  view = settled ?? { ...view, steps: [], at: "", beside: "" };
  putAddress(view, false);
  refresh();
}

// As soon as the picture is there: the map, with what is chosen; its panel comes later.
function drawSoon(found) {
  now = found;
  constraint = rejected = null;
  fillKeys();
  drawMaps();
}

// Each trouble stays until its own cause is gone: of the cluster, of the server, of the last answer; of another server until something is chosen.
const troubles = { cluster: by("trouble").textContent, server: "", answer: "", other: "" };

function say(of, trouble) {
  troubles[of] = trouble;
  const all = Object.values(troubles).filter(Boolean).join(" ");
  by("trouble").textContent = all;
  by("trouble").hidden = !all;
}

function showFrames(at) {
  by("frames").replaceChildren(...frames.map((frame, number) => element("li", {},
    element("button", { type: "button", onclick: () => go({ at: String(number) }), ...(number === at ? { "aria-current": "step" } : {}) },
      `${number}. ${frame.label}${frame.waiting ? ` (${frame.waiting} waiting)` : ""}`))));
  const choice = by("beside"), chosen = view.beside;
  choice.replaceChildren(element("option", { value: "" }, "nothing"), ...frames.map((frame, number) => element("option", { value: String(number) }, frame.label)));
  choice.value = chosen;
}

async function showBeside() {
  const there = view.beside !== "" && frames[Number(view.beside)];
  beforehand = there ? await picture(view.beside) : null;
  by("now").querySelector("figcaption").textContent = there ? `What changed since: ${there.label}` : "";
}

function fillKeys() {
  const choice = by("key");
  const names = now.keys.map((each) => each.key);
  if (choice.dataset.names !== names.join()) {
    choice.dataset.names = names.join();
    choice.replaceChildren(...(names.length ? names.map((name) => element("option", { value: name }, name)) : [element("option", { value: "" }, "none")]));
  }
  choice.value = names.includes(view.key) ? view.key : names[0] ?? "";
  by("fill").value = view.fill || "most";
}

// What the map shows beside the picture: the workload, its constraint on this key, who is rejected, the node.
function shown(of) {
  const key = of.keys.findIndex((each) => each.key === (view.key || of.keys[0]?.key));
  const row = view.workload ? rowOf(of, view.workload) : -1;
  const spread = spreadOf(of, row, Math.max(key, 0)) ?? (of === now ? constraint : null);
  return { key: Math.max(key, 0), fill: view.fill || "most", workload: row, constraint: spread, rejected: of === now ? rejected : null, node: view.node };
}

function rowOf(of, text) {
  const [kind, namespace, ...name] = text.split("/");
  const { workloads } = of;
  return workloads.name.findIndex((each, row) => each === name.join("/") && workloads.namespace[row] === namespace && workloads.kind[row] === kind);
}

function drawMaps() {
  if (!now) return;
  map.show(now, shown(now), beforehand);
  overview.show(now, unjudged, shown(now).key, view);
  const box = by("table");
  if (box.open) fillTable();
}

function fillTable() {
  by("table").querySelector("div").replaceChildren(...domainTable(now, map.columns, shown(now), chooseNode));
  stackTables(by("table"));
}

async function showChosen() {
  constraint = rejected = null;
  drawMaps();
  const mine = turn;
  const asked = view.pod ? "pod" : view.node ? "node" : view.workload ? "workload" : "";
  try {
    const [own, spread] = await Promise.all([asked ? answer(asked) : null, view.workload && asked !== "workload" ? answer("workload") : null]);
    if (mine !== turn) return;
    const workload = asked === "workload" ? own : spread;
    const key = now.keys[shown(now).key]?.key;
    trial.choose(view, workload, now, map.columns);
    constraint = spreadAnswered(workload?.constraints ?? [], key);
    rejected = asked === "pod" ? own.rejected.nodes : null;
    // Mostly the picture had all of it, and the map is as it should be.
    if (rejected || (constraint && !spreadOf(now, shown(now).workload, shown(now).key))) drawMaps();
    if (own) fillPanel(own.html);
    else listWorkloads();
    const slot = by("fixes");
    if (asked !== "pod" || !slot) return;
    // The verdict does not wait for what is tried.
    const { html } = await ask(request("/api/fixes", view.steps, by("maps").dataset.at, { target: view.pod }), asking.signal).catch((error) => ({ html: error.message }));
    if (slot.isConnected) slot.innerHTML = html;
  } catch (error) {
    if (mine !== turn) return;
    listWorkloads(); // a shared address may name what is gone: that is said, and the rest can be used
    panel.prepend(element("p", { className: "bad" }, error.message), backButton());
  }
}

function answer(what) {
  const at = by("maps").dataset.at;
  if (what === "pod") {
    panel.replaceChildren(element("p", { role: "status" }, `Asking why ${view.pod} …`), element("progress", { "aria-label": "Asking" }));
    return ask(request("/api/why", view.steps, at, { target: view.pod }));
  }
  if (what === "node") return ask(request("/api/node", view.steps, at, { name: view.node }));
  const [kind, namespace, ...name] = view.workload.split("/");
  return ask(request("/api/workload", view.steps, at, { kind, namespace, name: name.join("/") }));
}

// The server's own templates, in which every name is escaped.
function fillPanel(html) {
  const box = element("div");
  box.innerHTML = html;
  panel.replaceChildren(backButton(), box);
  stackTables(box);
  const head = box.querySelector("h2");
  if (document.activeElement === document.body || panel.contains(document.activeElement) || panel.dataset.wanted) head?.focus({ preventScroll: true });
  reached();
}

// What was asked for is shown: on a phone the panel stands above all else, and is scrolled to.
function reached() {
  if (panel.dataset.wanted && matchMedia("(max-width: 37.5rem)").matches) panel.scrollIntoView();
  delete panel.dataset.wanted;
}

function backButton() {
  const step = view.pod && view.node ? { pod: "" } : view.pod && view.workload ? { pod: "" } : { pod: "", node: "", workload: "" };
  const name = step.workload === "" ? "All workloads" : "Back";
  return element("button", { type: "button", onclick: () => choose(step) }, `← ${name}`);
}

function listWorkloads() {
  panel.replaceChildren(...workloadList(now, {
    workload: chooseWorkload,
    pod: (pod) => choose({ pod }),
    node: (node) => choose({ node, pod: "" }),
    pending: () => ask(request("/api/pending", view.steps, by("maps").dataset.at)),
    find: (q) => ask(request("/api/find", view.steps, by("maps").dataset.at, { q })).catch(() => ({ pods: { number: 0 }, nodes: { number: 0 } })),
  }));
  if (panel.dataset.wanted) panel.querySelector("h2").focus({ preventScroll: true });
  reached();
}

// The panel shows it, and gets the focus.
function choose(changes) {
  panel.dataset.wanted = "1";
  go(changes);
}

function chooseWorkload(workload) {
  choose({ workload, node: "", pod: "" });
}

function chooseNode(node) {
  choose({ node: now.nodes.name[node], pod: "" });
}

function pointAt(node) {
  const line = by("pointed");
  if (!now || node < 0) {
    line.textContent = "";
    return;
  }
  const { name, allocatable, used, flags, pods } = now.nodes, row = shown(now).workload;
  const share = ["cpu", "memory"].map((each) => `${each === "cpu" ? "CPU" : each} ${percent(used[each][node], allocatable[each][node])}`);
  const parts = [name[node], ...share, `${used.pods[node]} pods`];
  if (flags[node]) parts.push(words(flags[node]));
  if (row >= 0) parts.push(`${countOf(pods[node], row)} of ${now.workloads.name[row]}`);
  line.textContent = parts.join(" · ");
}

// Buttons in what the server wrote: a pod to explain, a step to try, a text to copy.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-pod], button[data-step], button[data-copy]");
  if (!button) return;
  if (button.dataset.pod) {
    choose({ pod: button.dataset.pod });
  } else if (button.dataset.step) {
    go({ steps: [...view.steps, button.dataset.step], beside: by("maps").dataset.at, at: "", pod: "" });
  } else {
    copy(button.dataset.copy, button);
  }
});

// A limit that is dragged moves its lines at once; the server tries what is let go of.
const dragged = ({ id, dataset }) => dataset.limit ?? /^maxSkew-(\d+)/.exec(id)?.[1];
document.addEventListener("input", ({ target }) => dragged(target) && drawLimit(panel, dragged(target), Number(target.value)));
document.addEventListener("change", ({ target: { dataset: { limit }, value } }) => {
  if (limit) Object.assign(by(`maxSkew-${limit}-range`), { value }).dispatchEvent(new Event("change"));
});

// Keys: / finds, 1 to 5 are the figures, [ and ] go in time, Escape ends what is played or closes what is chosen.
document.addEventListener("keydown", (event) => {
  const { key, target } = event, at = Number(by("maps").dataset.at);
  if (event.ctrlKey || event.metaKey || event.altKey || (target.matches("input, select, textarea") && key !== "Escape")) return;
  const button = by("trial").querySelector("[role=status] button");
  if (key === "/") by("parts").querySelector("[data-to=find]").click();
  else if (key >= "1" && key <= "5") by("figures").querySelectorAll("button")[key - 1]?.click();
  else if (key === "[" && at > 0) go({ at: String(at - 1) });
  else if (key === "]" && at < frames.length - 1) go({ at: String(at + 1) });
  else if (key === "Escape" && button) button.click();
  else if (key === "Escape" && (view.pod || view.node || view.workload)) choose({ pod: "", node: "", workload: "" });
  else return;
  event.preventDefault();
});

by("parts").addEventListener("click", ({ target: { dataset: { to } } }) => {
  if (to === "panel" || to === "find") choose({ pod: "", node: "", workload: "" });
  else if (to) by(to).scrollIntoView();
  if (to === "find") setTimeout(() => by("find")?.focus());
});
by("key").addEventListener("change", (event) => go({ key: event.target.value }));
by("fill").addEventListener("change", (event) => go({ fill: event.target.value === "most" ? "" : event.target.value }));
by("beside").addEventListener("change", (event) => go({ beside: event.target.value }));
by("larger").addEventListener("click", () => now && map.zoom(1.5));
by("smaller").addEventListener("click", () => now && map.zoom(1 / 1.5));
by("whole").addEventListener("click", () => now && map.whole());
for (const kind of ["svg", "png"]) by(`save-${kind}`).addEventListener("click", () => save(by(by("save").value), by("save").value, kind).catch(() => say("answer", "The picture could not be made.")));
by("table").addEventListener("toggle", () => by("table").open && now && fillTable());
addEventListener("popstate", () => { view = readAddress(); refresh(); });

// Another state was read, or none can be had: what is shown follows, or says how old it is.
function listen() {
  const events = new EventSource("/events");
  let revision = Number(by("state").dataset.revision), server = null, name = "";
  const told = (event) => {
    const state = JSON.parse(event.data);
    by("state").classList.toggle("warn", state.age > (state.live ? 60 : 3600));
    const age = state.live || state.trouble ? ` · read ${ageWords(state.age)} ago` : "";
    by("state").replaceChildren(...breakable(state.name), ` · ${state.nodes} nodes · Kubernetes ${state.kubeVersion}${age}`);
    say("cluster", state.trouble ? `${state.trouble}. What is shown was read ${ageWords(state.age)} ago.` : "");
    const isOther = server !== null && server !== state.server;
    say("server", "");
    connected(true);
    if (isOther && name !== state.name) say("other", `The server was started anew: this is ${state.name} now, before it was ${name}.`);
    if (isOther || state.revision !== revision) {
      revision = state.revision;
      pictures.clear();
      refresh();
    }
    ({ server, name } = state);
  };
  events.addEventListener("state", told);
  events.addEventListener("age", told);
  events.onerror = () => connected(false) ?? say("server", events.readyState === EventSource.CLOSED
    ? "The server was started anew and this page is not of it: open the URL that topospread printed."
    : "The server does not answer: what is shown stays as it was.");
}

// Without a server nothing can be tried, and what is shown is pale.
function connected(is) {
  document.body.classList.toggle("apart", !is);
  by("trial").inert = !is;
}

function ageWords(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

refresh().then(...(isRecorded ? [] : [listen, listen]));
