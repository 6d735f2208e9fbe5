// What lint finds, as a list whose items lead to their lines.

import { element } from "./elements.js";

const SIGN = { error: "✕", warning: "!", hint: "i" };

export function showFindings({ findings, problems }, goTo) {
  const told = [...problems.map((each) => ({ ...each, severity: "error", rule: "" })),
    ...findings.map((each) => ({ ...each, severity: each.level, message: each.says }))];
  document.getElementById("findings").replaceChildren(...told.map(({ severity, message, rule, line, column }) => element("li", {},
    element("button", { type: "button", className: severity, disabled: !line, onclick: () => goTo(line, column) },
      element("span", { className: "sign", ariaHidden: "true" }, SIGN[severity]), element("span", {}, message),
      element("span", { className: "where" }, [severity, rule, line && `line ${line}`].filter(Boolean).join(" · "))))));
  document.getElementById("no-findings").hidden = told.length > 0;
}
