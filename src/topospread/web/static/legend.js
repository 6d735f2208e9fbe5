// What the signs of the map mean, each drawn as it is there.

import { element } from "./elements.js";
import { theme } from "./colours.js";

const SIGNS = [
  ["used", "used"],
  ["full", "over 90 % used"],
  ["cordoned", "cordoned"],
  ["tainted", "tainted"],
  ["silent", "not ready"],
  ["missing", "without the label: a column with a dashed edge"],
];

export function drawLegend(list) {
  const colours = theme();
  list.replaceChildren(...SIGNS.map(([sign, words]) => {
    const canvas = element("canvas", { width: 32, height: 32, className: "mark", "aria-hidden": "true" });
    draw(canvas.getContext("2d"), sign, colours);
    return element("li", {}, canvas, words);
  }), element("li", {}, "a dot is a pod, in its workload's colour and form"),
  element("li", {}, element("span", { className: "bad" }, "! skew"), "beyond maxSkew of a hard constraint"),
  element("li", {}, element("span", { className: "warn" }, "~ skew"), "beyond maxSkew of a soft one, which is allowed"));
}

function draw(context, sign, { cell, used, full, line, warn, bad, ink }) {
  context.lineWidth = 2;
  context.fillStyle = cell;
  context.fillRect(1, 1, 30, 30);
  context.fillStyle = sign === "full" ? full : used;
  if (sign === "used") context.fillRect(1, 16, 30, 15);
  if (sign === "full") context.fillRect(1, 3, 30, 28);
  context.strokeStyle = line;
  context.setLineDash(sign === "missing" ? [5, 4] : []);
  context.strokeRect(1, 1, 30, 30);
  context.setLineDash([]);
  context.lineWidth = 3;
  context.beginPath();
  if (sign === "cordoned") {
    context.strokeStyle = warn;
    for (const at of [-16, 0, 16]) { context.moveTo(at + 1, 31); context.lineTo(at + 31, 1); }
    context.stroke();
  } else if (sign === "tainted") {
    context.fillStyle = ink;
    context.moveTo(19, 1);
    context.lineTo(31, 1);
    context.lineTo(31, 13);
    context.fill();
  } else if (sign === "silent") {
    context.strokeStyle = bad;
    context.moveTo(4, 4); context.lineTo(28, 28);
    context.moveTo(28, 4); context.lineTo(4, 28);
    context.stroke();
  }
}
