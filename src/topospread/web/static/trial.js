// What if: steps that are added, taken back and copied; what comes of them is the server's answer.

import { readAddress } from "./address.js";
import { element } from "./elements.js";
import { isRecorded, recorded } from "./recorded.js";
import { stackTables } from "./stacking.js";

const by = (id) => document.getElementById(id);

// The choice is kept where it is still one, unless something new was chosen elsewhere.
function choices(field, options, isNew) {
  const { value } = field;
  field.replaceChildren(...options.map(([each, text]) => element("option", { value: each }, text)));
  if (!isNew && options.some(([each]) => each === value)) field.value = value;
}

export class Trial {
  constructor(box, outcome, told) {
    Object.assign(this, { told, outcome });
    [this.trouble, this.steps, this.work, this.forms] = box.querySelectorAll(":scope > :is(div, p)");
    outcome.classList.toggle("stays", readAddress().steps.length > 0); // keeps its place until there is an answer
    this.forms.inert = true; // until there is something to try it on
    by("nodes-which").addEventListener("change", () => { by("nodes-other").value = ""; });
    box.addEventListener("submit", (event) => {
      event.preventDefault();
      const typed = by("nodes-other").value.trim(), alike = this.nodes.filter((each) => each.startsWith(typed));
      const other = alike.length === 1 ? alike[0] : typed, valueOf = (_, id) => (id === "nodes-which" && other ? `node=${other}` : by(id).value);
      if (event.target.dataset.step) told.add(event.target.dataset.step.replace(/\{([\w-]+)\}/g, valueOf).trim());
    });
  }

  // Steps that the server still works on, and the way to end that; without steps nothing is said.
  working(steps, cancel) {
    if (!steps.length || this.work.childElementCount) return;
    this.far = element("span");
    this.work.replaceChildren(`Playing ${steps.at(-1)} … `, this.far, " ", element("button", { type: "button", onclick: cancel }, "Cancel"),
      element("progress", { "aria-label": "Playing" }));
    this.outcome.replaceChildren();
  }

  show(view, told) {
    const isNew = this.view && this.view.steps.join("\n") !== view.steps.join("\n");
    this.view = view;
    [this.trouble, this.work].forEach((each) => each.replaceChildren());
    this.steps.innerHTML = told.stepsHtml;
    if (isRecorded) drillOfReport(this.steps.querySelector("a"));
    this.outcome.innerHTML = told.html;
    const link = this.outcome.querySelector("[data-said]");
    if (link && /^(localhost|127\.|\[::1)/.test(location.hostname)) link.dataset.said += ` ${location.hostname} is this machine: give others one file (“Share”).`;
    const file = by("one-file"), plain = file.dataset.plain ??= file.dataset.copy;
    file.nextElementSibling.textContent = file.dataset.copy = told.command ? `${told.command} -o html=page.html` : plain;
    stackTables(this.outcome);
    this.outcome.classList.toggle("stays", view.steps.length > 0);
    if (isNew) by("nodes-other").value = "";
    const bar = this.outcome.previousElementSibling.offsetHeight, top = bar + (parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0); // what stays in sight above it
    this.outcome.style.scrollMarginTop = `${bar}px`;
    if (isNew && !document.activeElement.matches("[data-limit], [data-instead]")) this.outcome.scrollIntoView({ block: this.outcome.getBoundingClientRect().top < top ? "start" : "nearest" });
  }

  // The forms for what is chosen; the one that was used keeps the focus.
  choose(view, workload, picture, columns) {
    const isNew = this.chosen !== view.node;
    this.forms.inert = false;
    Object.assign(this, { view, chosen: view.node, nodes: picture.nodes.name });
    if (isRecorded) return;
    const before = document.activeElement, isOurs = this.forms.contains(before), isOpen = by("own").querySelector("details")?.open ?? true;
    const key = picture.keys.find((each) => each.key === view.key) ?? picture.keys[0], domains = columns.filter((each) => !each.missing && key).map((each) => [`${key.key}=${each.name}`, each.name]);
    choices(by("nodes-which"), [...(view.node ? [[`node=${view.node}`, `node ${view.node}`]] : []), ...domains], isNew);
    choices(by("add-zone"), [["", "its own zone"], ...(key?.key === "topology.kubernetes.io/zone" ? key.values : []).map((each) => [` in ${each}`, each])]);
    if (isNew) by("add-like").value = view.node;
    by("own").innerHTML = workload?.forms ?? '<p class="quiet">Open a workload to change its replicas and its constraints.</p>';
    if (workload) by("own").querySelector("details").open = isOpen;
    if (isOurs) ((before.id && by(before.id)) || this.outcome).focus({ preventScroll: true });
  }

  refused(view, error) {
    this.work.replaceChildren();
    this.outcome.classList.toggle("stays", this.outcome.childElementCount > 0);
    const wrong = error.step ?? view.steps.length - 1;
    if (wrong < 0) return;
    this.trouble.replaceChildren(element("p", { className: "bad" }, `Step ${wrong + 1}: ${error.message} `,
      element("button", { type: "button", onclick: () => this.told.choose(view.steps.filter((_, at) => at !== wrong)) }, "Take it back")));
    this.trouble.scrollIntoView({ block: "nearest" });
  }
}

// A report has the drill's file in it, where it is a single one.
async function drillOfReport(link) {
  const answer = link && (await recorded(link.getAttribute("href")));
  if (answer) answer.ok ? Object.assign(link, { href: URL.createObjectURL(await answer.blob()), download: "what-if.yaml" }) : link.replaceWith("The drill is not in the report");
}
