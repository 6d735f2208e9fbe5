// What if: steps that are added, taken back and copied; what comes of them is the server's answer.

import { written } from "./address.js";
import { copyButton, element } from "./elements.js";

export class Trial {
  constructor(box, told) {
    this.box = box;
    this.told = told;
  }

  show(view, told, picture) {
    this.view = view;
    const steps = told.steps;
    const list = element("ol", { className: "steps" }, ...steps.map((step, number) => element("li", {}, `${step.title} `,
      element("button", { type: "button", "aria-label": `Take back: ${step.title}`, onclick: () => this.without(number) }, "Take back"))));
    const outcome = element("div");
    outcome.innerHTML = told.html;
    this.box.replaceChildren(element("h2", {}, "What if"), ...(steps.length ? [list, this.copies(told)] : []), outcome);
  }

  refused(view, error) {
    if (error.step === null || error.step === undefined) return;
    this.box.prepend(element("p", { className: "bad", role: "alert" }, `Step ${error.step + 1}: ${error.message} `,
      element("button", { type: "button", onclick: () => this.told.choose(view.steps.filter((_, at) => at !== error.step)) }, "Take it back")));
  }

  without(number) {
    this.told.choose(this.view.steps.filter((_, at) => at !== number));
  }

  copies(told) {
    const address = `${location.origin}${location.pathname}?${written(this.view)}`;
    const words = new URLSearchParams(this.view.steps.map((step) => ["step", step]));
    return element("p", { className: "copy" }, copyButton(address, "Copy the address"), copyButton(told.command, "Copy as command"),
      element("a", { href: `/drill?${words}`, download: "" }, "Download as a drill"));
  }
}
