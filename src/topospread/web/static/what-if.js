// The forms of what can be tried by hand; each makes a step as text, which the server reads and plays.

import { element } from "./elements.js";

const ON_NODES = ["fail", "recover", "cordon", "uncordon", "drain"];

// add(step): the step is added.
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

function form(legend, button, submitted, ...parts) {
  return element("form", { onsubmit: (event) => { event.preventDefault(); submitted(); } },
    element("fieldset", { className: "fields" }, element("legend", {}, legend), ...parts.map((each) => each.label), element("button", { type: "submit" }, button)));
}

const input = (id, label, properties) => labelled(label, element("input", { id, ...properties }));

const select = (id, label, options) => labelled(label, element("select", { id }, ...options.map(([value, text]) => element("option", { value }, text))));

const labelled = (label, field) => ({ field, label: element("label", { htmlFor: field.id }, element("span", {}, label), field) });
