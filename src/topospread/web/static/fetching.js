// Answers of the server: the data, or an error with its words; the same question asked twice at once is asked once.

import { isRecorded, recorded } from "./recorded.js";

export class Refused extends Error {
  constructor(message, step) {
    super(message);
    this.step = step;
  }
}

const under = new Map();

export function ask(address) {
  if (!under.has(address)) {
    under.set(address, fetched(address).finally(() => under.delete(address)));
  }
  return under.get(address);
}

async function fetched(address) {
  document.body.classList.add("busy");
  try {
    const answer = isRecorded ? await recorded(address) : await fetch(address, { headers: { Accept: "application/json" }, credentials: "same-origin" });
    const data = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
    if (!answer.ok) throw new Refused(data.error ?? `the server answered ${answer.status}`, data.step ?? null);
    return data;
  } catch (error) {
    throw error instanceof Refused ? error : new Refused("the server does not answer", null);
  } finally {
    document.body.classList.remove("busy");
  }
}
