// Elements made of plain text: names come from a cluster, and none of them is ever read as HTML here.

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && !key.includes("-")) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function plural(number, word) {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

export function copyButton(text, label) {
  return element("button", { type: "button", onclick: (event) => copy(text, event.currentTarget) }, label);
}

export async function copy(text, button) {
  const before = button.dataset.label ?? button.textContent;
  button.dataset.label = before;
  button.style.minWidth = `${button.getBoundingClientRect().width}px`; // what is beside it keeps its place
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    button.textContent = "could not be copied";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

// A path or a key that may be broken behind its slashes, dots and equals signs.
export function breakable(text) {
  return text.split(/(?<=[/.=])/).flatMap((part) => [part, element("wbr")]);
}
