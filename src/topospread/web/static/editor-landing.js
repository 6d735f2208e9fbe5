// Where the pods of a manifest land: a workload after the other, of each constraint the pods in every domain.

import { element } from "./elements.js";

const MOST_DOMAINS = 24;

export function showLanding(host, simulation) {
  const shown = simulation?.workloads.filter((each) => each.replicas > 0 || each.pending > 0) ?? [];
  host.replaceChildren(...shown.map(workload), ...(simulation?.pending ?? []).map(waiting));
}

function workload({ kind, namespace, name, existing, placed, pending, spread }) {
  const there = existing > 0 ? `${existing} there, ` : "", waits = pending > 0 ? `, ${pending} waiting` : "";
  return element("section", { className: "workload" }, element("h3", {}, `${kind} ${namespace}/${name}`),
    element("p", { className: pending > 0 ? "counts pending" : "counts" }, `${there}${placed} placed${waits}`), ...spread.map(constraint));
}

function constraint(spread) {
  const hard = spread.whenUnsatisfiable === "DoNotSchedule" ? "" : ", soft", names = Object.keys(spread.domains);
  const most = Math.max(1, ...Object.values(spread.domains)), rest = names.length - MOST_DOMAINS;
  return element("table", { className: "domains" },
    element("caption", { className: spread.skew > spread.maxSkew ? "exceeded" : "" }, `${spread.topologyKey}: skew ${spread.skew}, maxSkew ${spread.maxSkew}${hard}`),
    element("tr", {}, element("th", { scope: "col" }, "domain"), element("th", { scope: "col" }, "pods"), element("td")),
    ...names.slice(0, MOST_DOMAINS).map((name) => domain(name, spread, most)),
    ...(rest > 0 ? [element("tr", {}, element("td", { colSpan: 3 }, `and ${rest} more`))] : []));
}

function domain(name, spread, most) {
  const before = spread.before[name] ?? 0, after = spread.domains[name];
  const part = (className, pods) => {
    const made = element("span", { className });
    made.style.width = `${(pods / most) * 100}%`;
    return made;
  };
  return element("tr", {}, element("th", { scope: "row" }, name), element("td", { className: "number" }, before === after ? `${after}` : `${before} → ${after}`),
    element("td", { className: "bar", ariaHidden: "true" }, part("old", Math.min(before, after)), part("new", Math.max(after - before, 0))));
}

function waiting({ pods, message }) {
  const title = pods.length === 1 ? `Pod ${pods[0]} waits` : `${pods.length} pods wait: ${pods[0]} and ${pods.length - 1} more`;
  return element("section", { className: "waiting" }, element("h3", {}, title), element("p", {}, message));
}
