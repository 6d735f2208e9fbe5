// What if: steps that are added, taken back and copied; what comes of them is the server's answer.

import { written } from "./address.js";
import { copyButton, element } from "./elements.js";
import { isRecorded, recorded } from "./recorded.js";
import { stackTables } from "./stacking.js";
import { nodesForm, othersForm } from "./what-if.js";

export class Trial {
  // told.choose(steps): the steps are to be these; told.keep(): they are the baseline.
  constructor(box, outcome, told) {
    Object.assign(this, { told, outcome });
    this.work = element("p", { role: "status" });
    this.steps = element("div");
    this.forms = element("div");
    this.trouble = element("div", { role: "alert" });
    box.replaceChildren(element("h2", {}, "What if"), this.trouble, this.steps, this.work, this.forms);
  }

  // Steps that the server still works on, and the way to end that; without steps nothing is said.
  working(steps, cancel) {
    if (!steps.length || this.work.childElementCount) return;
    this.far = element("span");
    this.work.replaceChildren(`Playing ${steps.at(-1)} … `, this.far, " ", element("button", { type: "button", onclick: cancel }, "Cancel"),
      element("progress", { "aria-label": "Playing" }));
    this.outcome.replaceChildren();
  }

  says(words) {
    if (this.far) this.far.textContent = words;
  }

  show(view, told) {
    const isNew = this.view && this.view.steps.join("\n") !== view.steps.join("\n");
    this.view = view;
    this.trouble.replaceChildren();
    this.work.replaceChildren();
    const items = told.steps.map((step, number) => element("li", {}, `${step.title} `, ...copyButtons(step),
      element("button", { type: "button", "aria-label": `Take back: ${step.title}`, onclick: () => this.without(number) }, "Take back")));
    this.steps.replaceChildren(...(items.length ? [element("ol", { className: "steps" }, ...items), this.copies(told)] : []));
    this.outcome.innerHTML = told.html;
    stackTables(this.outcome);
    this.outcome.classList.toggle("stays", view.steps.length > 0);
    if (isNew) this.outcome.scrollIntoView({ block: this.outcome.getBoundingClientRect().top < 0 ? "start" : "nearest" });
  }

  // The forms for what is chosen; the one that was used keeps the focus.
  choose(view, workload, picture, columns) {
    this.view = view;
    if (isRecorded) return;
    const before = document.activeElement, isOurs = this.forms.contains(before), open = [...this.forms.querySelectorAll("details")].map((each) => each.open);
    const add = (step) => this.told.choose([...this.view.steps, step]);
    const key = picture.keys.find((each) => each.key === view.key) ?? picture.keys[0];
    const forms = [element("details", { open: true }, element("summary", {}, "Nodes"), nodesForm(key, columns, view.node, add))];
    const own = element("div");
    own.innerHTML = workload?.forms ?? '<p class="quiet">Choose a workload to change its replicas and its constraints.</p>';
    forms.push(own);
    forms.push(element("details", {}, element("summary", {}, "More nodes, and time"), othersForm(key, view.node, add)));
    this.forms.replaceChildren(...forms);
    const now = [...this.forms.querySelectorAll("details")];
    if (now.length === open.length) now.forEach((each, at) => { each.open = open[at]; });
    if (isOurs) ((before.id && document.getElementById(before.id)) || this.outcome).focus({ preventScroll: true });
  }

  refused(view, error) {
    this.work.replaceChildren();
    if (error.step === null || error.step === undefined) return;
    this.trouble.replaceChildren(element("p", { className: "bad" }, `Step ${error.step + 1}: ${error.message} `,
      element("button", { type: "button", onclick: () => this.told.choose(view.steps.filter((_, at) => at !== error.step)) }, "Take it back")));
  }

  without(number) {
    this.told.choose(this.view.steps.filter((_, at) => at !== number));
  }

  copies(told) {
    const address = `${location.origin}${location.pathname}?${written(this.view)}`;
    const words = new URLSearchParams(this.view.steps.map((step) => ["step", step]));
    if (isRecorded) return element("p", { className: "copy" }, copyButton(told.command, "Copy as command"), drillOfReport(`/drill?${words}`));
    return element("p", { className: "copy" }, copyButton(address, "Copy the address"), copyButton(told.command, "Copy as command"),
      element("a", { href: `/drill?${words}`, download: "" }, "Download as a drill"), element("button", { type: "button", onclick: this.told.keep }, "Keep as baseline"));
  }
}

// Beside each step; what a step's button copies, its name says to who does not see beside what it stands.
function copyButtons({ title, patch, command }) {
  const button = (text, label) => {
    const made = copyButton(text, label);
    made.ariaLabel = `${label}: ${title}`;
    return [made, " "];
  };
  return [...(patch ? button(patch, "Copy as YAML patch") : []), ...(command ? button(command, "Copy as command") : [])];
}

// A report has the drill's file in it, where it is a single one.
function drillOfReport(address) {
  const link = element("a", { download: "what-if.yaml" }, "Download as a drill"), none = "The drill is not in the report";
  recorded(address).then(async (answer) => { answer.ok ? link.href = URL.createObjectURL(await answer.blob()) : link.replaceWith(none); });
  return link;
}
