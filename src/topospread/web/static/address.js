// What is looked at, as it stands in the address: whoever opens it sees the same.

import { isRecorded, recordedQuery } from "./recorded.js";

const ONE = ["at", "beside", "base", "key", "fill", "filter", "workload", "node", "pod"];

// A file has no query that could be changed: there it stands behind the #.
const query = () => (isRecorded ? location.hash.slice(1) || recordedQuery : location.search);

export function readAddress(search = query()) {
  const words = new URLSearchParams(search);
  const found = { steps: words.getAll("step") };
  for (const name of ONE) found[name] = words.get(name) ?? "";
  return found;
}

export function written({ steps, ...more }) {
  const words = new URLSearchParams(steps.map((step) => ["step", step]));
  for (const [name, value] of Object.entries(more)) if (value !== "") words.set(name, value);
  return words;
}

export function addressOf(view) {
  const text = written(view).toString();
  return isRecorded ? `#${text || "at="}` : text ? `?${text}` : location.pathname;
}

export const putAddress = (view, push) => history[push ? "pushState" : "replaceState"](null, "", addressOf(view));

// Words of a request about one frame: the steps, the frame, and what else is asked.
export const request = (path, steps, at, more = {}) => `${path}?${written({ steps, at, ...more })}`;
