// What is wrong at a glance: figures that filter, and workloads × domains, the worst first.

import { element, plural } from "./elements.js";
import { CORDONED, NOT_READY, TAINTED } from "./map.js";
import { spreadOf } from "./spreads.js";
import { stackTables } from "./stacking.js";
import { words } from "./table.js";
import { stateOf, worstFirst } from "./workloads.js";

const MOST = 50; // rows, until more are asked for
const MOST_DOMAINS = 9; // of more, a row says the fewest and the most

const sum = (list) => list.reduce((total, each) => total + each, 0);

// Name → [title, words, rows that it leaves], of workloads or of nodes.
function figuresOf({ workloads, nodes }, unjudged) {
  const { waiting, excess, softExcess } = workloads;
  const rows = (kept) => workloads.name.map((_, row) => row).filter(kept);
  const closed = nodes.flags.map((flags, node) => (flags ? node : -1)).filter((node) => node >= 0);
  const of = (bit) => closed.filter((node) => nodes.flags[node] & bit).length;
  return {
    pending: [sum(waiting), "pending", `pods of ${plural(rows((row) => waiting[row]).length, "workload")}`, rows((row) => waiting[row])],
    hard: [rows((row) => excess[row]).length, "over a hard maxSkew", "workloads", rows((row) => excess[row])],
    soft: [rows((row) => !excess[row] && softExcess[row]).length, "over a soft maxSkew", "workloads; it is allowed", rows((row) => !excess[row] && softExcess[row])],
    closed: [closed.length, "nodes not open", `${of(CORDONED)} cordoned, ${of(TAINTED)} tainted, ${of(NOT_READY)} not ready`, closed],
    unjudged: [unjudged, "not judged", "pods that ask for what is not modelled", null],
  };
}

export class Overview {
  // told.filter(name), told.workload(text), told.node(row)
  constructor(figures, matrix, told) {
    Object.assign(this, { figures, matrix, told, most: MOST, shown: null });
  }

  show(picture, unjudged, key, view) {
    const shown = [picture, key, view.filter, view.workload, unjudged];
    if (this.shown?.every((each, at) => each === shown[at])) return;
    if (this.shown?.[2] !== view.filter) this.most = MOST;
    this.shown = shown;
    this.draw();
  }

  draw() {
    const [picture, key, filter, workload, unjudged] = this.shown;
    const figures = figuresOf(picture, unjudged), rows = figures[filter]?.[3];
    this.figures.replaceChildren(...Object.entries(figures).filter(([name, [number]]) => name !== "unjudged" || number).map(([name, each]) => this.figure(name, each, filter)));
    this.matrix.replaceChildren(...(filter === "closed" ? this.nodes(picture, key, rows) : this.workloads(picture, key, rows, workload)));
    stackTables(this.matrix);
  }

  figure(name, [number, title, more, rows], filter) {
    const inside = [element("b", {}, String(number)), " ", element("span", {}, title), " ", element("span", { className: "quiet" }, more)];
    if (!rows) return element("p", { className: "figure" }, ...inside);
    return element("button", { type: "button", className: `figure ${number ? name : ""}`, "aria-pressed": String(name === filter),
      onclick: () => this.told.filter(name === filter ? "" : name) }, ...inside);
  }

  workloads(picture, key, rows, workload) {
    const { name, namespace, kind, replicas, excess, waiting, softExcess } = picture.workloads;
    const order = worstFirst(picture, rows);
    const domains = picture.keys[key]?.values ?? [], counts = countsOf(picture, key);
    const isMany = domains.length > MOST_DOMAINS;
    const heads = ["Workload", "State", "Wanted", ...(isMany ? [`Pods in ${domains.length} domains`] : domains)];
    const lines = order.slice(0, this.most).map((row) => {
      const text = `${kind[row]}/${namespace[row]}/${name[row]}`;
      const open = element("button", { type: "button", onclick: () => this.told.workload(text) }, `${namespace[row]}/${name[row]}`);
      const spread = spreadOf(picture, row, key);
      const pods = domains.map((domain, at) => (spread ? spread.of.get(domain) : counts[row * domains.length + at]));
      const cells = isMany ? [element("td", { className: "number" }, rangeOf(pods))] : pods.map((each) => cell(each, spread));
      return element("tr", text === workload ? { className: "chosen" } : {}, element("th", { scope: "row" }, open),
        element("td", {}, ...stateOf(excess[row], waiting[row], softExcess[row])), element("td", { className: "number" }, String(replicas[row])), ...cells);
    });
    return this.table("Workloads by domain, the worst first", heads, lines, order.length, "workloads");
  }

  nodes(picture, key, rows) {
    const { keys, nodes } = picture;
    const lines = rows.slice(0, this.most).map((row) => element("tr", {},
      element("th", { scope: "row" }, element("button", { type: "button", onclick: () => this.told.node(row) }, nodes.name[row])),
      element("td", {}, keys[key]?.values[keys[key].of[row]] ?? "–"), element("td", {}, words(nodes.flags[row])),
      element("td", { className: "number" }, String(nodes.used.pods[row]))));
    return this.table("Nodes that are not open", ["Node", "Domain", "State", "Pods"], lines, rows.length, "nodes");
  }

  table(title, heads, lines, all, noun) {
    const head = element("tr", {}, ...heads.map((each, at) => element("th", { scope: "col", className: at > 1 && each !== "State" ? "number" : "" }, each)));
    const table = element("table", {}, element("caption", { className: "unseen" }, title), element("thead", {}, head), element("tbody", {}, ...lines));
    const more = all > lines.length ? [element("p", {}, element("button", { type: "button", onclick: () => this.more() }, `Show more: ${lines.length} of ${all} ${noun} are here`))] : [];
    if (!all) return [element("p", { className: "quiet" }, `No ${noun}.`)];
    return [element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": title }, table), ...more];
  }

  more() {
    this.most += MOST;
    this.draw();
  }
}

// The number, how much it is above the minimum, and a ground that says how near the limit that is.
function cell(pods, spread) {
  if (pods === undefined) return element("td", { className: "number quiet" }, "–");
  if (!spread) return element("td", { className: "number" }, String(pods));
  const above = pods - spread.minimum;
  const heat = above > spread.maxSkew ? (spread.hard ? "over" : "softover") : above > 0 ? "within" : "least";
  const title = `${pods} − ${spread.minimum} (minimum) = ${above}, maxSkew ${spread.maxSkew}${spread.hard ? "" : ", soft"}`;
  return element("td", { className: `number heat ${heat}`, title }, `${pods} `, element("small", {}, above > 0 ? `+${above}` : "min"));
}

function rangeOf(pods) {
  const there = pods.filter((each) => each !== undefined);
  if (!there.length) return "–";
  const least = there.reduce((a, b) => Math.min(a, b)), most = there.reduce((a, b) => Math.max(a, b));
  return least === most ? `${least} each` : `${least} to ${most}`;
}

const counted = new WeakMap();

// Pods of each workload in each domain, whether or not it has a constraint: row × domains.
function countsOf(picture, key) {
  const of = picture.keys[key]?.of ?? [], width = picture.keys[key]?.values.length ?? 0;
  const known = counted.get(picture) ?? counted.set(picture, new Map()).get(picture);
  if (!known.has(key)) {
    const counts = new Int32Array(picture.workloads.name.length * width);
    picture.nodes.pods.forEach((pairs, node) => {
      if (of[node] < 0) return;
      for (let at = 0; at < pairs.length; at += 2) counts[pairs[at] * width + of[node]] += pairs[at + 1];
    });
    known.set(key, counts);
  }
  return known.get(key);
}
