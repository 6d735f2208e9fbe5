// What lint finds, as a list whose items lead to their lines.

const SIGN = { error: "✕", warning: "!", hint: "i" };

/** Shows findings and problems; `goTo(line, column)` is called for the one that is chosen. */
export function showFindings({ findings, problems }, goTo) {
  const told = [...problems.map((each) => ({ ...each, severity: "error", rule: "" })),
    ...findings.map((each) => ({ ...each, severity: each.level, message: each.says }))];
  document.getElementById("findings").replaceChildren(...told.map((each) => item(each, goTo)));
  document.getElementById("no-findings").hidden = told.length > 0;
}

function item(each, goTo) {
  const made = document.createElement("li");
  const button = made.appendChild(document.createElement("button"));
  button.type = "button";
  button.className = each.severity;
  const sign = button.appendChild(document.createElement("span"));
  sign.className = "sign";
  sign.ariaHidden = "true";
  sign.textContent = SIGN[each.severity];
  const words = button.appendChild(document.createElement("span"));
  words.textContent = each.message;
  const where = button.appendChild(document.createElement("span"));
  where.className = "where";
  where.textContent = [each.severity, each.rule, each.line && `line ${each.line}`].filter(Boolean).join(" · ");
  if (each.line) button.addEventListener("click", () => goTo(each.line, each.column));
  else button.disabled = true;
  return made;
}
