// What stands at the head of a column and of a rack on the map: its whole name, its pods and its skew, in lines.

import { COUNT, NAME, RACK, REFUSED, SKEW } from "./lettering.js";
import { spreadOf } from "./spreads.js";

export const EDGE = 6; // between a column's edge and its words
const BELOW = 10;
const LEAST = 40; // narrower a column is only on its way out of what is shown

export function plural(number, word) {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

// Beyond maxSkew a hard constraint would refuse the next pod; a soft one only scores less: said by sign and word.
function skewWords(skew, { hard, maxSkew }) {
  const sign = skew > maxSkew ? (hard ? "! " : "~ ") : "";
  return `${sign}skew ${skew} of ${maxSkew}${hard ? "" : ", soft"}`;
}

// The most that a choice of a workload may want to say in a column, so that room is kept for it.
export function longestWords(picture, keyNumber) {
  let pods = 0, skew = "skew 0 of 0";
  picture.workloads.spreads.forEach((_, row) => {
    const spread = spreadOf(picture, row, keyNumber);
    if (!spread) return;
    const most = Math.max(0, ...spread.of.values()), words = skewWords(most - spread.minimum, spread);
    pods = Math.max(pods, most);
    if (words.length > skew.length) skew = words;
  });
  return { pods, skew };
}

// How high a head becomes, in a room so wide.
export function headHeight(column, longest, room, lettering) {
  const lines = (words, style) => lettering.height(style, lettering.lines(words, style, room).length);
  const counts = Math.max(lines(plural(column.nodes.length, "node"), COUNT), lines(plural(longest.pods, "pod"), COUNT));
  return lines(column.name, NAME) + counts + lines(longest.skew, REFUSED) + BELOW * lettering.em;
}

function wordsOf(column, found, { ink, bad, warn }) {
  const words = [[column.name, NAME, ink]];
  const pods = found && !column.missing ? found.of.get(column.name) : undefined;
  if (pods === undefined) return [...words, [plural(column.nodes.length, "node"), COUNT, ink]];
  const skew = pods - found.minimum, over = skew > found.maxSkew;
  return [...words, [plural(pods, "pod"), COUNT, ink],
    [skewWords(skew, found), over && found.hard ? REFUSED : SKEW, over ? (found.hard ? bad : warn) : ink]];
}

// Draws a column's head as far up in it as is shown. Returns the lowest point that its words take.
export function paintHead(context, column, { box: [left, top, w, h], room: [width, height], lettering, theme, found }) {
  const x = Math.max(left, 0) + EDGE, room = Math.min(left + w, width) - EDGE - x;
  if (room < Math.min(LEAST * lettering.em, w - 2 * EDGE)) return 0;
  const words = wordsOf(column, found, theme).map(([text, style, colour]) => [lettering.lines(text, style, room), style, colour]);
  const high = words.reduce((sum, [lines, style]) => sum + lettering.height(style, lines.length), 0);
  const y = Math.min(Math.max(top, 0), top + h - high - 2);
  if (y < 0 || y + high > height + 1) return 0;
  context.fillStyle = theme.soft;
  context.fillRect(x - EDGE, y, room + 2 * EDGE, high + 2);
  let at = y;
  for (const [lines, style, colour] of words) {
    lettering.draw(context, lines, style, x, at + style.line * lettering.em - 1, colour);
    at += lettering.height(style, lines.length);
  }
  return y + high;
}

// Names of racks, each above its nodes and only where there is room for all of it between the racks.
export function paintRacks(context, column, { box: [left, top], room: [width, height], scale, lettering, theme, below }) {
  const x = Math.max(left, 0) + EDGE, room = Math.min(left + column.w * scale, width) - EDGE - x;
  for (const group of column.groups) {
    if (!group.name || room < LEAST * lettering.em) continue;
    const lines = lettering.lines(group.name, RACK, room), high = lettering.height(RACK, lines.length);
    const end = top + (group.cells - column.y) * scale, start = end - high;
    if (high > group.above * scale || start < below || start < 0 || end > height) continue;
    lettering.draw(context, lines, RACK, x, start + (RACK.line - 3) * lettering.em, theme.ink);
  }
}
