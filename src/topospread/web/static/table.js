// The map as tables, for who does not see it: a row for each domain, and on request a row for each of its nodes.

import { CORDONED, countOf, NOT_READY, TAINTED, UNKNOWN } from "./map.js";
import { element, sum, table, tableRow } from "./elements.js";
import { skewMark } from "./spreads.js";
import { stackTables } from "./stacking.js";

const WORDS = [[CORDONED, "cordoned"], [TAINTED, "tainted"], [NOT_READY, "not ready"], [UNKNOWN, "? may take a pod that is not judged"]];

export const words = (flags) => WORDS.filter(([bit]) => flags & bit).map(([, each]) => each).join(", ");

export const percent = (part, whole) => (whole ? `${Math.round((100 * part) / whole)}\u00a0%` : "–");

// CPU, memory and pods of some nodes, and how many of these pods the chosen workload has.
function usedOf({ nodes: { allocatable, used, pods } }, nodes, { workload }) {
  const total = (list) => sum(nodes.map((node) => list[node]));
  const own = workload >= 0 ? [sum(nodes.map((node) => countOf(pods[node], workload)))] : [];
  return [percent(total(used.cpu), total(allocatable.cpu)), percent(total(used.memory), total(allocatable.memory)), total(used.pods), ...own];
}

export function domainTable(picture, columns, shown, choose) {
  const { flags } = picture.nodes, spread = shown.constraint;
  const heads = ["Domain", "Nodes", "Not open", ...headsOf(picture, shown), ...(spread ? ["Skew"] : [])];
  const rows = columns.map((column) => tableRow(1, column.name, (event) => {
    const box = event.currentTarget.closest("div.scroll").nextElementSibling;
    box.replaceChildren(nodeTable(picture, column, shown, choose));
    stackTables(box);
    Object.assign(box.querySelector("caption"), { tabIndex: -1 }).focus();
  }, [column.nodes.length, column.nodes.filter((node) => flags[node] & ~UNKNOWN).length, ...usedOf(picture, column.nodes, shown), ...(spread ? [spread.of.has(column.name) ? skewMark(spread, column.name, "") : "–"] : [])]));
  return [table("Domains; a name shows its nodes", 1, heads, rows), element("div")];
}

const headsOf = ({ workloads }, { workload }) => ["CPU", "Memory", "Pods", ...(workload >= 0 ? [`Pods of ${workloads.name[workload]}`] : [])];

function nodeTable(picture, column, shown, choose) {
  const { name, flags } = picture.nodes;
  const rows = column.nodes.map((node) => tableRow(2, name[node], () => choose(node), [words(flags[node]), ...usedOf(picture, [node], shown)]));
  return table(`Nodes of ${column.name}`, 2, ["Node", "State", ...headsOf(picture, shown)], rows);
}
