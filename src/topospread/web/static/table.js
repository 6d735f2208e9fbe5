// The map as tables, for who does not see it: a row for each domain, and on request a row for each of its nodes.

import { CORDONED, countOf, NOT_READY, TAINTED, UNKNOWN } from "./map.js";
import { element } from "./elements.js";
import { skewWords } from "./spreads.js";
import { stackTables } from "./stacking.js";

const WORDS = [[CORDONED, "cordoned"], [TAINTED, "tainted"], [NOT_READY, "not ready"], [UNKNOWN, "? may take a pod that is not judged"]];

export const words = (flags) => WORDS.filter(([bit]) => flags & bit).map(([, each]) => each).join(", ");

export function percent(part, whole) {
  return whole ? `${Math.round((100 * part) / whole)}\u00a0%` : "–";
}

function skewOf(spread, name) {
  const pods = spread.of.get(name), skew = pods - spread.minimum;
  if (pods === undefined) return "–";
  return element("span", { className: skew <= spread.maxSkew ? "" : spread.hard ? "bad" : "warn" }, skewWords(skew, spread, ""));
}

export function domainTable(picture, columns, shown, choose) {
  const { allocatable, used, flags, pods } = picture.nodes;
  const sum = (list, nodes) => nodes.reduce((total, node) => total + list[node], 0);
  const named = shown.workload >= 0 ? picture.workloads.name[shown.workload] : "";
  const spread = shown.constraint;
  const heads = ["Domain", "Nodes", "CPU", "Memory", "Pods", "Not open", ...(named ? [`Pods of ${named}`] : []), ...(spread ? ["Skew"] : [])];
  const rows = columns.map((column) => {
    const nodes = column.nodes;
    const numbers = [
      nodes.length,
      percent(sum(used.cpu, nodes), sum(allocatable.cpu, nodes)),
      percent(sum(used.memory, nodes), sum(allocatable.memory, nodes)),
      sum(used.pods, nodes),
      nodes.filter((node) => flags[node] & ~UNKNOWN).length,
    ];
    if (named) numbers.push(nodes.reduce((total, node) => total + countOf(pods[node], shown.workload), 0));
    if (spread) numbers.push(skewOf(spread, column.name));
    const open = element("button", { type: "button", onclick: (event) => {
      const box = event.currentTarget.closest("div.scroll").nextElementSibling;
      box.replaceChildren(nodeTable(picture, column, shown, choose));
      stackTables(box);
      box.querySelector("caption").focus();
    } }, column.name);
    return element("tr", {}, element("th", { scope: "row" }, open), ...numbers.map((each) => element("td", { className: "number" }, each instanceof Node ? each : String(each))));
  });
  const head = element("tr", {}, ...heads.map((each, at) => element("th", { scope: "col", className: at ? "number" : "" }, each)));
  const table = element("table", {}, element("caption", {}, "Domains; a name shows its nodes"), element("thead", {}, head), element("tbody", {}, ...rows));
  return [element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Domains" }, table), element("div")];
}

function nodeTable(picture, column, shown, choose) {
  const { name, allocatable, used, flags, pods } = picture.nodes;
  const rows = column.nodes.map((node) => element("tr", {},
    element("th", { scope: "row" }, element("button", { type: "button", onclick: () => choose(node) }, name[node])),
    ...[percent(used.cpu[node], allocatable.cpu[node]), percent(used.memory[node], allocatable.memory[node]), used.pods[node]].map(
      (each) => element("td", { className: "number" }, String(each))),
    element("td", {}, words(flags[node])),
    ...(shown.workload >= 0 ? [element("td", { className: "number" }, String(countOf(pods[node], shown.workload)))] : [])));
  const heads = ["Node", "CPU", "Memory", "Pods", "State", ...(shown.workload >= 0 ? ["Pods of the workload"] : [])];
  return element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": `Nodes of ${column.name}` },
    element("table", {}, element("caption", { tabIndex: -1 }, `Nodes of ${column.name}`),
      element("thead", {}, element("tr", {}, ...heads.map((each) => element("th", { scope: "col", className: ["Node", "State"].includes(each) ? "" : "number" }, each)))),
      element("tbody", {}, ...rows)));
}
