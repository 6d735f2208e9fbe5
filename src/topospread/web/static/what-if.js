// The forms of what can be tried by hand; each makes a step as text, which the server reads and plays.

import { element } from "./elements.js";

const ON_NODES = ["fail", "recover", "cordon", "uncordon", "drain"];

// add(step, replaced): the step is added, those that it stands in for are taken out.
export function nodesForm(key, columns, node, add) {
  const action = select("nodes-action", "Do", ON_NODES.map((each) => [each, each]));
  const domains = columns.filter((each) => !each.missing && key).map((each) => [`${key.key}=${each.name}`, each.name]);
  const which = select("nodes-which", "to", [...(node ? [[`node=${node}`, `node ${node}`]] : []), ...domains]);
  const other = input("nodes-other", "or to the node", { type: "text", autocomplete: "off" });
  return form("Let something happen to nodes", "Try it", () => {
    const name = other.field.value.trim();
    add(`${action.field.value} ${name ? `node=${name}` : which.field.value}`);
  }, action, which, other);
}

export function workloadForm(editable, add) {
  const parts = [];
  if (editable.replicas !== null) parts.push(scaling(editable, add));
  if (editable.rolls) parts.push(form("Rollout", "Roll it out anew", () => add(`rollout ${editable.target}`)));
  return element("div", {}, ...parts);
}

function scaling(editable, add) {
  const step = (value) => add(`scale ${editable.target}=${value}`, (each) => each.startsWith(`scale ${editable.target}=`));
  const most = Math.max(10, editable.replicas * 2);
  return form("Replicas", null, null, ...dragged("replicas", "Replicas", editable.replicas, 0, most, step));
}

export function constraintForm(editable, constraint, at, add) {
  const change = (field, value) => add(patchStep(editable, constraint, field, value), (each) => isPatchOf(each, editable, `${constraint.path}/${field}`));
  const choice = (field, label, values) => {
    const made = select(`${field}-${at}`, label, values.map((each) => [each, each]));
    made.field.value = constraint[field];
    made.field.addEventListener("change", () => change(field, made.field.value));
    return made;
  };
  const number = (field) => dragged(`${field}-${at}`, field, constraint[field] ?? 1, 1, Math.max(10, constraint[field] * 2), (value) => change(field, value));
  return form(`Constraint on ${constraint.topologyKey}`, null, null, ...number("maxSkew"),
    ...(constraint.whenUnsatisfiable === "DoNotSchedule" ? number("minDomains") : []), // 1 is as if it were not there
    choice("whenUnsatisfiable", "whenUnsatisfiable", ["DoNotSchedule", "ScheduleAnyway"]),
    choice("nodeAffinityPolicy", "nodeAffinityPolicy", ["Honor", "Ignore"]),
    choice("nodeTaintsPolicy", "nodeTaintsPolicy", ["Honor", "Ignore"]));
}

function patchStep(editable, constraint, field, value) {
  const path = `${constraint.path}/${field}`;
  const operations = [{ op: constraint[field] === null ? "add" : "replace", path, value }];
  // Only a hard constraint may have minDomains.
  if (field === "whenUnsatisfiable" && value === "ScheduleAnyway" && constraint.minDomains !== null) {
    operations.push({ op: "remove", path: `${constraint.path}/minDomains` });
  }
  return `patch ${editable.object} ${JSON.stringify(operations)}`;
}

function isPatchOf(step, editable, path) {
  return step.startsWith(`patch ${editable.object} `) && step.includes(`"path":${JSON.stringify(path)}`);
}

export function othersForm(key, node, add) {
  const number = input("add-number", "Nodes", { type: "number", min: 1, max: 1000, value: 1 });
  const like = input("add-like", "like the node", { type: "text", value: node, autocomplete: "off" });
  const zones = key?.key === "topology.kubernetes.io/zone" ? key.values : [];
  const where = select("add-zone", "in", [["", "its own zone"], ...zones.map((each) => [each, each])]);
  const time = input("wait-seconds", "Seconds", { type: "number", min: 1, value: 60 });
  return element("div", {},
    form("Add nodes", "Add them", () => add(`add ${number.field.value} like ${like.field.value.trim()}${where.field.value ? ` in ${where.field.value}` : ""}`), number, like, where),
    form("Let time pass", "Wait", () => add(`wait ${time.field.value}s`), time));
}

// A number to drag and to type: both say the same, and what is let go of is tried.
function dragged(id, label, value, min, max, tried) {
  const range = input(`${id}-range`, label, { type: "range", min, max, value });
  const number = input(id, `${label} as a number`, { type: "number", min, value });
  number.label.firstChild.className = "unseen";
  range.field.addEventListener("input", () => { number.field.value = range.field.value; });
  range.field.addEventListener("change", () => tried(Number(range.field.value)));
  number.field.addEventListener("change", () => number.field.value !== "" && tried(Number(number.field.value)));
  return [range, number];
}

function form(legend, button, submitted, ...parts) {
  const send = button ? [element("button", { type: "submit" }, button)] : [];
  return element("form", { onsubmit: (event) => { event.preventDefault(); submitted?.(); } },
    element("fieldset", { className: "fields" }, element("legend", {}, legend), ...parts.map((each) => each.label), ...send));
}

function input(id, label, properties) {
  const field = element("input", { id, ...properties });
  return { field, label: element("label", { htmlFor: id }, element("span", {}, label), field) };
}

function select(id, label, options) {
  const field = element("select", { id }, ...options.map(([value, text]) => element("option", { value }, text)));
  return { field, label: element("label", { htmlFor: id }, element("span", {}, label), field) };
}
