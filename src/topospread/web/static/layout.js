// Where everything stands on the map, in units of the whole map: columns of domains, racks in them, a cell for each node.
// Nothing is drawn here, and nothing is known of the size it is shown in. A column's head is as high as its name wants.

import { EDGE, headHeight, longestWords } from "./heads.js";
import { NAME, RACK } from "./lettering.js";

const RACK_KEY = "topology.kubernetes.io/rack";
const GAP = 12;
const BETWEEN = 6; // racks

// Returns {columns: [{name, x, y, w, h, head, nodes, groups: [{name, cells, above}]}], cells: Float32Array of x, y,
// w, h by node, columnOf: the column of each, order: rows of nodes as they are walked through, head: the highest, width,
// height}. A group's cells begin at `cells`, with so much room `above` them.
export function layOut(picture, keyNumber, [width, height], lettering) {
  const columns = domainsOf(picture, keyNumber);
  const longest = longestWords(picture, keyNumber);
  const cells = new Float32Array(4 * picture.nodes.name.length);
  const size = sizes(picture.nodes.allocatable.cpu);
  const rows = arranged(columns, width, lettering);
  const each = Math.ceil(columns.length / rows);
  const columnWidth = (width - GAP * (each + 1)) / each;
  const order = [];
  let bottom = GAP;
  for (let row = 0; row < rows; row++) {
    const there = columns.slice(row * each, (row + 1) * each);
    const rowHeight = (height - GAP * (rows + 1)) / rows;
    const most = Math.max(1, ...there.map((column) => column.nodes.length));
    const groups = Math.max(1, ...there.map((column) => column.groups.length));
    const words = columnWidth - 2 * EDGE;
    const head = Math.max(...there.map((column) => headHeight(column, longest, words, lettering)));
    const named = Math.max(...there.map((column) => nameRacks(column, words, lettering)));
    const unit = cellUnit(most, groups, [columnWidth, Math.max(rowHeight - head, rowHeight / 2, 40)], named);
    let lowest = 0;
    there.forEach((column, at) => {
      Object.assign(column, { x: GAP + at * (columnWidth + GAP), y: bottom, w: columnWidth, head });
      lowest = Math.max(lowest, fillColumn(column, unit, cells, size));
      for (const group of column.groups) order.push(...group.nodes);
    });
    for (const column of there) column.h = Math.max(lowest, head + 24);
    bottom += Math.max(lowest, head + 24) + GAP;
  }
  const columnOf = new Int32Array(picture.nodes.name.length);
  columns.forEach((column, at) => column.nodes.forEach((node) => { columnOf[node] = at; }));
  return { columns, cells, columnOf, order, head: Math.max(...columns.map((column) => column.head)), width, height: bottom };
}

// How much the names of a column's racks want, all together; 0 for one rack, which is not named.
function nameRacks(column, room, lettering) {
  for (const group of column.groups) {
    const lines = column.groups.length > 1 ? lettering.lines(group.name, RACK, room).length : 0;
    group.above = lettering.height(RACK, lines);
  }
  return column.groups.reduce((sum, group) => sum + group.above, 0);
}

// In how many rows the columns stand. They are wide enough that names are broken at their hyphens and dots alone, unless
// that would leave less than two beside each other, or one where letters are large.
function arranged(columns, width, lettering) {
  const parts = columns.map((column) => lettering.widestPart(column.name, NAME));
  const { em } = lettering, least = width < 320 * em ? 1 : 2;
  const wanted = Math.max((width < 560 * em ? 104 : 170) * em, ...parts.map((part) => part + 2 * EDGE + GAP + 1));
  const across = Math.max(1, Math.floor((width - GAP) / Math.min(wanted, (width - GAP) / least)));
  return Math.max(1, Math.ceil(columns.length / across));
}

function domainsOf(picture, keyNumber) {
  const key = picture.keys[keyNumber];
  const rack = picture.keys.find((each) => each.key === RACK_KEY);
  const columns = (key ? key.values : ["all nodes"]).map((name) => ({ name, missing: false, nodes: [], groups: [] }));
  const missing = { name: key ? `without ${key.key}` : "", missing: true, nodes: [], groups: [] };
  picture.nodes.name.forEach((_, node) => {
    const code = key ? key.of[node] : 0;
    (code < 0 ? missing : columns[code]).nodes.push(node);
  });
  const shown = columns.filter((column) => column.nodes.length);
  if (missing.nodes.length) shown.push(missing);
  for (const column of shown) column.groups = racksOf(column.nodes, rack && key !== rack ? rack : null);
  return shown;
}

function racksOf(nodes, rack) {
  if (!rack) return [{ name: "", nodes }];
  const by = new Map();
  for (const node of nodes) {
    const name = rack.of[node] < 0 ? "" : rack.values[rack.of[node]];
    if (!by.has(name)) by.set(name, []);
    by.get(name).push(node);
  }
  return [...by].sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true })).map(([name, own]) => ({ name, nodes: own }));
}

// Cells are squares of at most one unit; a node with a quarter of the largest's CPU has half its side.
function sizes(cpu) {
  const most = Math.max(1, ...cpu.reduce((top, each) => (each > top[0] ? [each] : top), [0]));
  return (node) => Math.max(0.45, Math.sqrt(Math.max(cpu[node], 1) / most));
}

const NAMED_FROM = 18;

function cellUnit(nodes, groups, [width, room], named) {
  let unit = Math.min(150, width - 8);
  while (unit > 4) {
    const across = Math.max(1, Math.floor((width - 8) / unit));
    const down = Math.ceil(nodes / groups / across) * groups;
    if (down * unit + (groups - 1) * BETWEEN + (unit > NAMED_FROM ? named : 0) <= room) break;
    unit -= unit > 24 ? 2 : 0.5;
  }
  return unit;
}

// Returns how far down it reaches from the column's top. Where cells are small, racks are named only in what is between
// them, which is enough as soon as the map is made larger.
function fillColumn(column, unit, cells, size) {
  const across = Math.max(1, Math.floor((column.w - 8) / unit));
  let y = column.y + column.head;
  for (const group of column.groups) {
    if (unit <= NAMED_FROM) group.above = column.groups.length > 1 ? BETWEEN : 0;
    else y += group.above;
    group.cells = y;
    group.nodes.forEach((node, at) => {
      const side = size(node) * (unit - Math.min(3, unit * 0.15));
      const left = column.x + 4 + (at % across) * unit + (unit - side) / 2;
      const top = y + Math.floor(at / across) * unit + (unit - side) / 2;
      cells.set([left, top, side, side], 4 * node);
    });
    y += Math.ceil(group.nodes.length / across) * unit + BETWEEN;
  }
  return y - column.y;
}
