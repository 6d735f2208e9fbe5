// The list of workloads: those with trouble first, and a field to find the others, pods and nodes too.

import { aged, element, plural, tries } from "./elements.js";
import { isRecorded } from "./recorded.js";
import { skewWords } from "./spreads.js";

const MOST = 60, FEW = 5, SHORTEST = 2, PAUSE = 150; // workloads; domains; letters from which pods and nodes are looked for; milliseconds

// A workload as it stands in the address.
export const keyOf = ({ kind, namespace, name }, row) => `${kind[row]}/${namespace[row]}/${name[row]}`;

// How much the worst constraint of each workload is above its maxSkew; 0 where none is.
const excessOf = (exceeded) => exceeded.map((each) => (each ? each.skew - each.maxSkew : 0));

// Pending pods first, then lost ones, what is over a limit, and what is not judged; among the rest the largest.
export function worstFirst({ workloads: { name, waiting, missing, unjudged, hardExceeded, softExceeded, replicas } }, rows = name.map((_, row) => row)) {
  const ranks = [waiting.map((each, row) => each - unjudged[row]), missing, excessOf(hardExceeded), excessOf(softExceeded), unjudged, replicas];
  return rows.toSorted((a, b) => ranks.reduce((found, each) => found || each[b] - each[a], 0));
}

// told.workload(text), told.pod(text), told.node(name), told.all(), told.find(text): the server's answer;
// isCaused: pending pods by cause; a figure that filters: its title and rows, which are nodes of "closed"
export function workloadList(picture, isCaused, { filter, title, rows }, told) {
  const { nodes, workloads: { kind, namespace, name, replicas } } = picture, isOfNodes = filter === "closed", order = worstFirst(picture), kept = new Set(rows);
  const list = element("ul", { className: "list" }), count = element("p", { className: "quiet", role: "status" });
  const fill = (text) => {
    const wanted = text.trim().toLowerCase();
    const isNodes = isOfNodes && !wanted; // what is typed is looked for everywhere
    const found = isNodes ? rows : order.filter((row) => (!rows || wanted || kept.has(row)) && `${kind[row]} ${namespace[row]}/${name[row]}`.toLowerCase().includes(wanted));
    const line = (row, choose, text, more, ...state) => element("button", { type: "button", onclick: choose }, `${text} `, element("span", { className: "quiet", title: isNodes ? nodes.taints[row] : "" }, more), ...state);
    list.replaceChildren(...found.slice(0, MOST).map((row) => element("li", {}, isNodes ? line(row, () => told.node(nodes.name[row]), nodes.name[row].split(".")[0], aged(nodes.taints[row]))
      : line(row, () => told.workload(keyOf(picture.workloads, row)), `${namespace[row]}/${name[row]}`, `${kind[row]}, ${replicas[row]} wanted · `, ...stateOf(picture, row)))));
    const noun = isNodes ? "node" : "workload", which = found.length > MOST ? `The first ${MOST} of ${plural(found.length, noun)}` : plural(found.length, noun);
    const domains = wanted ? picture.keys.flatMap(({ key, values }) => values.filter((each) => each.toLowerCase().includes(wanted)).map((each) => tries(key, each))).slice(0, FEW) : [];
    offers.replaceChildren(...domains.map((each) => element("p", { className: "offers" }, ...each)));
    if (causes) causes.hidden = Boolean(wanted);
    count.textContent = found.length > 1 ? `${which}, the worst first.` : found.length ? `${which}.` : domains.length ? "" : "No workload matches.";
  };
  const others = element("div", { role: "status" }), offers = element("div", { role: "status" });
  const causes = isCaused && picture.waiting && ["", "pending", "unjudged"].includes(filter) ? element("div", { "data-ask": "/api/pending", "data-first": "causes" }) : null;
  let pause = 0;
  const find = async (text) => {
    const answer = await told.find(text);
    if (text !== field.value.trim()) return;
    others.replaceChildren(...found("Pods", answer.pods, told.pod), ...found("Nodes", answer.nodes, told.node, (name) => tries("node", name)));
  };
  const typed = () => {
    fill(field.value);
    clearTimeout(pause);
    others.replaceChildren();
    const text = field.value.trim();
    if (!isRecorded && text.length >= SHORTEST) pause = setTimeout(find, PAUSE, text);
  };
  const field = element("input", { type: "search", id: "find", oninput: typed, autocomplete: "off",
    onkeydown: (event) => event.key === "Enter" && (list.querySelector("button") ?? others.querySelector("button"))?.click() });
  fill("");
  const back = rows ? [element("button", { type: "button", onclick: told.all }, "← All workloads")] : [];
  return [...back, element("h2", { tabIndex: -1 }, causes ? "Pods without a node" : isOfNodes ? "Nodes not open" : rows ? `Workloads: ${title}` : "Workloads"), element("label", { htmlFor: "find" }, "Find a workload, pod, node or zone ", field), offers, ...(filter === "hard" && rows.length && !isRecorded ? [element("section", { "data-ask": "/api/rebalance", "aria-label": "Evictions that bring all of them back", "aria-live": "polite" })] : []), ...(causes ? [causes, element("h3", {}, "Workloads")] : []), count, list, others];
}

function found(title, { number, first }, choose, more = () => []) {
  if (!number) return [];
  const rest = number > first.length ? [element("p", { className: "quiet" }, `The first ${first.length} of ${plural(number, title.toLowerCase().slice(0, -1))}.`)] : [];
  return [element("h3", {}, title), element("ul", { className: "list" }, ...first.map((name) => element("li", {},
    element("button", { type: "button", onclick: () => choose(name) }, name), ...more(name)))), ...rest];
}

// What is wrong with a workload, as elements and words.
export function stateOf({ workloads }, row) {
  const [hard, unjudged, soft, missing] = ["hardExceeded", "unjudged", "softExceeded", "missing"].map((each) => workloads[each][row]), waiting = workloads.waiting[row] - unjudged;
  const found = [];
  const exceeded = (each, isHard) => skewWords(each.skew, { hard: isHard, maxSkew: each.maxSkew }, `${each.key.split("/").pop()} skew `);
  if (hard) found.push(element("span", { className: "bad" }, exceeded(hard, true)));
  if (waiting) found.push(element("span", { className: "bad" }, `${hard ? ", " : ""}${waiting} pending`));
  if (missing) found.push(element("span", { className: "bad" }, `${found.length ? ", " : ""}${missing} lost`));
  if (soft && !hard) found.push(element("span", { className: "warn" }, `${found.length ? ", " : ""}${exceeded(soft, false)}`));
  if (unjudged) found.push(element("span", { className: "unknown" }, `${found.length ? ", " : ""}? ${unjudged} not judged`));
  return found.length ? found : ["within"];
}
