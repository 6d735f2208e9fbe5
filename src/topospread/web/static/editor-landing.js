// Where the pods of a manifest land: a workload after the other, of each constraint the pods in every domain.

const MOST_DOMAINS = 24;

/** Shows a simulation in `host`; null where there is none. */
export function showLanding(host, simulation) {
  const shown = simulation?.workloads.filter((each) => each.replicas > 0 || each.pending > 0) ?? [];
  host.replaceChildren(...shown.map(workload), ...(simulation?.pending ?? []).map(waiting));
}

function workload(each) {
  const made = element("section", "workload");
  const there = each.existing > 0 ? `${each.existing} there, ` : "";
  const waits = each.pending > 0 ? `, ${each.pending} waiting` : "";
  made.append(
    element("h3", "", `${each.kind} ${each.namespace}/${each.name}`),
    element("p", each.pending > 0 ? "counts pending" : "counts", `${there}${each.placed} placed${waits}`),
    ...each.spread.map((spread) => constraint(each, spread)),
  );
  return made;
}

function constraint(of, spread) {
  const table = element("table", "domains");
  const hard = spread.whenUnsatisfiable === "DoNotSchedule" ? "" : ", soft";
  const skew = `${spread.topologyKey}: skew ${spread.skew}, maxSkew ${spread.maxSkew}${hard}`;
  const names = Object.keys(spread.domains);
  const most = Math.max(1, ...Object.values(spread.domains));
  const head = element("tr");
  for (const each of ["domain", "pods", ""]) head.append(Object.assign(element("th", "", each), { scope: "col" }));
  head.lastChild.replaceWith(element("td"));
  table.append(element("caption", spread.skew > spread.maxSkew ? "exceeded" : "", skew), head);
  for (const name of names.slice(0, MOST_DOMAINS)) table.append(domain(name, spread, most));
  if (names.length > MOST_DOMAINS) {
    const rest = element("tr");
    rest.append(Object.assign(element("td", "", `and ${names.length - MOST_DOMAINS} more`), { colSpan: 3 }));
    table.append(rest);
  }
  return table;
}

function domain(name, spread, most) {
  const row = element("tr");
  const before = spread.before[name] ?? 0;
  const after = spread.domains[name];
  const words = before === after ? `${after}` : `${before} → ${after}`;
  const bar = element("td", "bar");
  const old = bar.appendChild(element("span", "old"));
  const added = bar.appendChild(element("span", "new"));
  old.style.width = `${(Math.min(before, after) / most) * 100}%`;
  added.style.width = `${(Math.max(after - before, 0) / most) * 100}%`;
  bar.ariaHidden = "true";
  row.append(Object.assign(element("th", "", name), { scope: "row" }), element("td", "number", words), bar);
  return row;
}

function waiting(each) {
  const made = element("section", "waiting");
  const pods = each.pods.length === 1 ? `Pod ${each.pods[0]} waits` : `${each.pods.length} pods wait: ${each.pods[0]} and ${each.pods.length - 1} more`;
  made.append(element("h3", "", pods), element("p", "", each.message));
  return made;
}

function element(name, className = "", text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}
