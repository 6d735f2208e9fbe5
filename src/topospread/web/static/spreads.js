// How a chosen workload's constraint stands in the domains of the map: from the picture, or from the server's answer.
// Both give {hard, maxSkew, minimum, of}: of is a Map from a domain's name to the pods that count there.

import { element } from "./elements.js";

// The skew of a domain.
export function skewMark(spread, name, of, skew = spread.of.get(name) - spread.minimum) {
  return element("span", { className: skew <= spread.maxSkew ? "" : spread.hard ? "bad" : "warn" }, skewWords(skew, spread, of));
}

// Beyond maxSkew a hard constraint would refuse the next pod; a soft one only scores less: said by sign and word.
export function skewWords(skew, { hard, maxSkew }, of = "skew ") {
  return `${skew > maxSkew ? (hard ? "! " : "~ ") : ""}${of}${skew}, max ${maxSkew}${hard ? "" : ", soft"}`;
}

// The constraint on a key; of several on it a hard one before a soft one.
export function spreadOf(picture, workload, keyNumber) {
  const own = (workload < 0 ? [] : picture.workloads.spreads[workload]).filter((each) => each.key === keyNumber);
  const found = own.find((each) => each.hard) ?? own[0];
  if (!found) return null;
  const { values } = picture.keys[keyNumber], of = new Map();
  found.pods.forEach((pods, at) => pods >= 0 && of.set(values[at], pods));
  return { hard: found.hard, maxSkew: found.maxSkew, minimum: found.minimum, of };
}

// Of keys with more values than a picture counts: the domains that the answer tells of.
export function spreadAnswered(constraints, key) {
  const own = constraints.filter((each) => each.topologyKey === key);
  const found = own.find((each) => each.whenUnsatisfiable === "DoNotSchedule") ?? own[0];
  if (!found) return null;
  const of = new Map(found.domains.map((each) => [each.name, each.matching]));
  return { hard: found.whenUnsatisfiable === "DoNotSchedule", maxSkew: found.maxSkew, minimum: found.minimum, of };
}

// The bars of a constraint with another maxSkew: counted here, nothing is asked.
export function drawLimit(root, constraint, maxSkew) {
  let over = 0;
  for (const bar of root.querySelectorAll(`.bar[data-constraint="${constraint}"]`)) {
    const pods = Number(bar.dataset.pods), limit = Number(bar.dataset.minimum) + maxSkew, [within, beyond] = bar.querySelectorAll("rect");
    bar.setAttribute("viewBox", `0 0 ${Math.max(Number(bar.dataset.most), limit)} 10`);
    bar.querySelector(".limit").setAttribute("d", `M${limit} 0v10`);
    within.setAttribute("width", Math.min(pods, limit));
    beyond.setAttribute("x", limit);
    beyond.setAttribute("width", Math.max(pods - limit, 0));
    over += pods > limit;
  }
  const words = root.querySelector(`[data-limit="${constraint}"]`)?.closest(".handle").querySelector("output");
  if (words) words.textContent = `maxSkew ${maxSkew}: ${over || "no"} domain${over === 1 ? "" : "s"} over the limit`;
}
