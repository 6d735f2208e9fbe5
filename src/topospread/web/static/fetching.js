// Answers of the server: the data, or an error with its words; the same question asked twice at once is asked once.

import { isRecorded, recorded } from "./recorded.js";

const refused = (message, step = null) => Object.assign(new Error(message), { step });

const under = new Map();

// signal: ends the question; the server then ends its work.
export function ask(address, signal) {
  const before = under.get(address);
  if (before && !before.signal?.aborted) return before.answer;
  const made = { signal };
  made.answer = fetched(address, signal).finally(() => under.get(address) === made && under.delete(address));
  under.set(address, made);
  return made.answer;
}

let questions = 0;

async function fetched(address, signal) {
  document.body.classList.toggle("busy", ++questions > 0);
  try {
    const answer = isRecorded ? await recorded(address) : await fetch(address, { headers: { Accept: "application/json" }, credentials: "same-origin", signal });
    const data = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
    if (!answer.ok) throw refused(data.error ?? `the server answered ${answer.status}`, data.step);
    return data;
  } catch (error) {
    throw "step" in error ? error : refused("the server does not answer");
  } finally {
    document.body.classList.toggle("busy", --questions > 0);
  }
}

// A value with what changed in it, as web/differences.py writes it; nothing is written to the one before.
export function changed(before, difference) {
  if (!Array.isArray(difference)) return { ...before, ...Object.fromEntries(Object.entries(difference).map(([key, each]) => [key, changed(before[key], each)])) };
  const [first, second, third] = difference;
  if (difference.length === 1) return first;
  if (third) return before.toSpliced(first, second, ...third);
  const made = [...before];
  first.forEach((at, number) => { made[at] = changed(before[at], second[number]); });
  return made;
}
