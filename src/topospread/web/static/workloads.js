// The list of workloads: those with trouble first, and a field to find the others.

import { markElement } from "./colours.js";
import { element } from "./elements.js";

const MOST = 60;

export function workloadList(picture, choose) {
  const { kind, namespace, name, waiting, excess, softExcess, replicas } = picture.workloads;
  const order = name.map((_, row) => row).sort((a, b) => excess[b] - excess[a] || waiting[b] - waiting[a] || softExcess[b] - softExcess[a] || replicas[b] - replicas[a]);
  const list = element("ul", { className: "list" }), count = element("p", { className: "quiet", role: "status" });
  const fill = (text) => {
    const wanted = text.trim().toLowerCase();
    const found = order.filter((row) => `${kind[row]} ${namespace[row]}/${name[row]}`.toLowerCase().includes(wanted));
    list.replaceChildren(...found.slice(0, MOST).map((row) => element("li", {},
      element("button", { type: "button", onclick: () => choose(`${kind[row]}/${namespace[row]}/${name[row]}`) },
        markElement(picture, row), ` ${namespace[row]}/${name[row]} `, element("span", { className: "quiet" }, `${kind[row]}, ${replicas[row]} wanted`),
        ...trouble(excess[row], waiting[row], softExcess[row])))));
    count.textContent = found.length > MOST ? `The first ${MOST} of ${found.length}, the worst first.` : found.length === 1 ? "1 workload." : `${found.length} workloads, the worst first.`;
  };
  const field = element("input", { type: "search", id: "find", oninput: () => fill(field.value), autocomplete: "off" });
  fill("");
  return [element("h2", { tabIndex: -1 }, "Workloads"), element("label", { htmlFor: "find" }, "Find ", field), count, list];
}

function trouble(excess, waiting, softExcess) {
  const found = [];
  if (excess) found.push(element("span", { className: "bad" }, ` ! ${excess} more than maxSkew`));
  if (waiting) found.push(element("span", { className: "bad" }, `${excess ? "," : ""} ${waiting} waiting`));
  if (softExcess && !excess) found.push(element("span", { className: "warn" }, ` ~ ${softExcess} more than a soft maxSkew`));
  return found;
}
