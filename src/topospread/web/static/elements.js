// Elements made of plain text: names come from a cluster, and none of them is ever read as HTML here. Characters that
// nobody sees or that change the text's direction are shown as escapes, so that no name looks like another.

const HIDDEN = /[^\P{Cc}\t\n]|\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}/gu;
const visible = (child) => (typeof child === "string" ? child.replace(HIDDEN, (each) => `\\u${each.codePointAt(0).toString(16).padStart(4, "0")}`) : child);

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && !key.includes("-")) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.map(visible));
  return made;
}

export const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

export const ageWords = (seconds) => (seconds < 90 ? `${Math.round(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`);

// Words in which each time is an age.
export const aged = (text) => text.replace(/(since|at) (\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (_, word, time) => [ageWords(Math.max(0, Date.now() - Date.parse(time)) / 1000)].map((age) => (word === "at" ? `${age} ago` : `for ${age}`))[0]);

// Every time in what the server wrote, as an age; the time itself is its title.
export const ageTimes = (root) => root.querySelectorAll("time:not([title])").forEach((time) => Object.assign(time, { title: time.textContent, textContent: aged(time.textContent) }));

export const sum = (list) => list.reduce((total, each) => total + each, 0);

// What can be tried with a domain or a node.
export const tries = (key, name) => ["fail", "drain"].map((verb) => element("button", { type: "button", className: "served", "data-step": `${verb} ${key}=${name}` },
  `${verb === "fail" ? "Fail" : "Drain"} ${key.split("/").pop()} ${name}`));

// A table in a box that is scrolled sideways: its first columns hold words, the others numbers.
export function table(title, wordy, heads, rows) {
  const head = element("tr", {}, ...heads.map((each, at) => element("th", { scope: "col", className: at < wordy ? "" : "number" }, each)));
  const made = element("table", {}, element("caption", {}, title), element("thead", {}, head), element("tbody", {}, ...rows));
  return element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": title }, made);
}

// A row of such a table, which begins with a button; a cell that is made already stays as it is.
export function tableRow(wordy, name, onclick, cells) {
  return element("tr", {}, element("th", { scope: "row" }, element("button", { type: "button", onclick }, name)),
    ...cells.map((each, at) => (each instanceof HTMLTableCellElement ? each : element("td", { className: at + 1 < wordy ? "" : "number" }, ...[each].flat()))));
}

export const copy = (text, button) => reported(button, () => navigator.clipboard.writeText(text), "copied");

// The button says for a moment what came of its work.
export async function reported(button, work, done) {
  const before = (button.dataset.label ??= button.textContent);
  button.style.minWidth = `${button.getBoundingClientRect().width}px`; // what is beside it keeps its place
  try {
    await work();
    button.textContent = done;
  } catch {
    button.textContent = `could not be ${done}`;
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

// A path or a key that may be broken behind its slashes, dots and equals signs.
export const breakable = (text) => visible(text).split(/(?<=[/.=])/).flatMap((part) => [part, element("wbr")]);
