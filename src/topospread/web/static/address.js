// What is looked at, as it stands in the address: whoever opens it sees the same.

import { isRecorded, recordedQuery } from "./recorded.js";

const ONE = ["at", "beside", "base", "key", "fill", "filter", "workload", "node", "pod"];

// A file has no query that could be changed: there it stands behind the #.
function query() {
  if (!isRecorded) return location.search;
  return location.hash ? location.hash.slice(1) : recordedQuery;
}

export function readAddress(search = query()) {
  const words = new URLSearchParams(search);
  const found = { steps: words.getAll("step") };
  for (const name of ONE) found[name] = words.get(name) ?? "";
  return found;
}

export function written(view) {
  const words = new URLSearchParams();
  for (const step of view.steps) words.append("step", step);
  for (const name of ONE) if (view[name] !== "") words.set(name, view[name]);
  return words;
}

export function putAddress(view, push) {
  const text = written(view).toString();
  const address = isRecorded ? `#${text || "at="}` : text ? `?${text}` : location.pathname;
  if (push) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

// Words of a request about one frame: the steps, the frame, and what else is asked.
export function request(path, steps, at, more = {}) {
  const words = new URLSearchParams();
  for (const step of steps) words.append("step", step);
  if (at !== "") words.set("at", at);
  for (const [name, value] of Object.entries(more)) words.set(name, value);
  return `${path}?${words}`;
}
