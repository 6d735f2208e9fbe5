// What is wrong at a glance: figures that filter, and workloads × domains, the worst first.

import { aged, element, plural, sum, table, tableRow } from "./elements.js";
import { NOT_READY, UNKNOWN } from "./map.js";
import { spreadOf } from "./spreads.js";
import { stackTables } from "./stacking.js";
import { words } from "./table.js";
import { keyOf, stateOf, worstFirst } from "./workloads.js";

// Rows drawn at first, and at a time when more are asked for; of more domains, a row says the fewest and the most.
const FEW = 12, ROWS = 200, MOST_DOMAINS = 9;

// Name → [title, words, rows that it leaves], of workloads or of nodes.
export function figuresOf({ workloads, nodes }) {
  const { hardExceeded: hard, softExceeded: soft, unjudged, missing } = workloads, waiting = workloads.waiting.map((each, row) => each - unjudged[row]);
  const rows = (kept) => workloads.name.map((_, row) => row).filter(kept);
  const closed = nodes.flags.map((flags, node) => (flags & ~UNKNOWN ? node : -1)).filter((node) => node >= 0).toSorted((a, b) => (nodes.flags[b] & NOT_READY) - (nodes.flags[a] & NOT_READY));
  return {
    pending: [sum(waiting), "pending", `pods of ${plural(rows((row) => waiting[row]).length, "workload")}`, rows((row) => waiting[row])],
    hard: [rows((row) => hard[row]).length, "over a hard maxSkew", "workloads", rows((row) => hard[row])],
    soft: [rows((row) => !hard[row] && soft[row]).length, "over a soft maxSkew", "workloads; it is allowed", rows((row) => !hard[row] && soft[row])],
    closed: [closed.length, "nodes not open", countsOfStates(nodes, closed) || "cordoned, tainted or not ready", closed],
    lost: [sum(missing), "lost", "pods on nodes that are not ready, or not replaced", rows((row) => missing[row])],
    unjudged: [sum(unjudged), "not judged", "pods; the input lacks what decides", rows((row) => unjudged[row])],
  };
}

// How many nodes are in which state, each counted once, as what is worst of it.
const countsOfStates = ({ flags }, rows) => Object.entries(Object.groupBy(rows, (row) => words(flags[row] & NOT_READY || flags[row] & ~UNKNOWN).split(", ")[0])).map(([state, of]) => `${of.length} ${state}`).join(", ");

export class Overview {
  // told.filter(name), told.workload(text), told.node(row)
  constructor(figures, matrix, told) {
    Object.assign(this, { figures, matrix, told, shown: null });
  }

  show(picture, key, { filter, workload }) {
    const shown = [picture, key, filter, workload];
    if (this.shown?.every((each, at) => each === shown[at])) return;
    this.shown = shown;
    const figures = figuresOf(picture), rows = figures[filter]?.[3];
    this.figures.replaceChildren(...Object.entries(figures).filter(([name, [number]]) => !["lost", "unjudged"].includes(name) || number).map(([name, each]) => this.figure(name, each, filter)));
    this.matrix.replaceChildren(...(filter === "closed" ? this.nodes(picture, key, rows) : this.workloads(picture, key, rows, workload)));
    stackTables(this.matrix);
  }

  figure(name, [number, title, more], filter) {
    return element("button", { type: "button", className: `figure ${number ? name : ""}`, "aria-pressed": String(name === filter), onclick: () => this.told.filter(name === filter ? "" : name) },
      element("b", {}, String(number)), " ", element("span", {}, title), " ", element("span", { className: "quiet" }, more));
  }

  workloads(picture, key, rows, workload) {
    const { name, namespace, replicas, unjudged } = picture.workloads;
    const order = worstFirst(picture, rows), counts = countsOf(picture, key);
    const domains = picture.keys[key]?.values ?? [], isMany = domains.length > MOST_DOMAINS;
    const heads = ["Workload", "State", "Wanted", ...(isMany ? [`Pods in ${domains.length} domains`] : domains)];
    const { of = [] } = picture.keys[key] ?? {}, marked = picture.nodes.flags.some((flags) => flags & UNKNOWN);
    // Where a pod that is not judged may go: the nodes that the map marks, or else all open nodes.
    const maybe = new Set(of.filter((_, node) => (marked ? picture.nodes.flags[node] & UNKNOWN : !picture.nodes.flags[node])));
    const line = (row) => {
      const text = keyOf(picture.workloads, row), spread = spreadOf(picture, row, key);
      const pods = domains.map((domain, at) => spread?.of.get(domain) ?? counts[row * domains.length + at]);
      const cells = isMany ? [element("td", { className: unjudged[row] ? "number unknown" : "number" }, unjudged[row] ? `? ${rangeOf(pods)}` : rangeOf(pods))] : pods.map((each, at) => cell(each, spread, maybe.has(at) && unjudged[row], domains[at]));
      const made = tableRow(2, `${namespace[row]}/${name[row]}`, () => this.told.workload(text), [stateOf(picture, row), replicas[row], ...cells]);
      made.classList.toggle("chosen", text === workload);
      return made;
    };
    return this.table("Workloads by domain, the worst first", 2, heads, order, line, "workloads");
  }

  nodes(picture, key, rows) {
    const { keys, nodes } = picture;
    const domain = (row) => keys[key]?.values[keys[key].of[row]] ?? "–", parts = Object.entries(Object.groupBy(rows, domain)).sort();
    const counts = parts.map(([name, own]) => `${name}: ${countsOfStates(nodes, own)}`);
    const line = (row) => tableRow(3, element("span", { title: nodes.name[row] }, nodes.name[row].split(".")[0]), () => this.told.node(row), [domain(row), element("span", { title: nodes.taints[row] }, aged(nodes.taints[row])), nodes.used.pods[row]]);
    return [element("p", {}, counts.slice(0, MOST_DOMAINS).join(" · ")), ...this.table("Nodes that are not open", 3, ["Node", "Domain", "Why", "Pods"], rows, line, "nodes")];
  }

  table(title, wordy, heads, rows, line, noun) {
    if (!rows.length) return [element("p", { className: "quiet" }, `No ${noun}.`)];
    const box = table(title, wordy, heads, []), [body] = box.firstChild.tBodies;
    box.firstChild.caption.className = "unseen";
    box.firstChild.setAttribute("aria-rowcount", rows.length + 1);
    const all = element("button", { type: "button", onclick: () => further(ROWS) });
    const further = (most) => {
      body.append(...rows.slice(body.rows.length, body.rows.length + most).map(line));
      const left = rows.length - body.rows.length;
      all.textContent = left > ROWS ? `Show ${ROWS} more of ${rows.length} ${noun}` : `Show all ${rows.length} ${noun}`;
      all.hidden = !left;
      stackTables(this.matrix);
    };
    further(FEW);
    return [box, all];
  }
}

// The number, how much it is above the minimum, and a ground that says how near the limit that is.
function cell(pods, spread, unjudged, domain) {
  if (unjudged) return element("td", { className: "number unknown", title: `${plural(unjudged, "pod")} of this workload not judged: here, elsewhere or nowhere` }, `? ${pods} `, element("small", {}, `to ${pods + unjudged}`));
  if (!spread?.of.size) return element("td", { className: "number" }, String(pods)); // of a default one that counts no domain, too
  if (!spread.of.has(domain)) return element("td", { className: "number quiet", title: "its constraint does not count this domain" }, `${pods} `, element("small", {}, "–"));
  const above = pods - spread.minimum;
  const heat = above > spread.maxSkew ? (spread.hard ? "over" : "softover") : above > 0 ? "within" : "least";
  const title = `${pods} − ${spread.minimum} (minimum) = ${above}, maxSkew ${spread.maxSkew}${spread.hard ? "" : ", soft"}`;
  return element("td", { className: `number heat ${heat}`, title }, `${pods} `, element("small", {}, above > 0 ? `+${above}` : "min"));
}

function rangeOf(pods) {
  const [least, most] = [Math.min(...pods), Math.max(...pods)];
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
