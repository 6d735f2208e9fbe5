// Where everything stands on the map, in units of the whole map: columns of domains, racks in them, a cell for each node.
// Nothing is drawn here, and nothing is known of the size it is shown in.

const RACK = "topology.kubernetes.io/rack";
export const HEAD = 58; // for a column's name and its numbers
const GAP = 12;

// Returns {columns: [{name, x, y, w, h, nodes, groups: [{name, y, h}]}], cells: Float32Array of x, y, w, h by node,
// order: rows of nodes as they are walked through, width, height}.
export function layOut(picture, keyNumber, width, height) {
  const columns = domainsOf(picture, keyNumber);
  const cells = new Float32Array(4 * picture.nodes.name.length);
  const size = sizes(picture.nodes.allocatable.cpu);
  const rows = arranged(columns.length, width);
  const each = Math.ceil(columns.length / rows);
  const columnWidth = (width - GAP * (each + 1)) / each;
  const order = [];
  let bottom = GAP;
  for (let row = 0; row < rows; row++) {
    const there = columns.slice(row * each, (row + 1) * each);
    const rowHeight = (height - GAP * (rows + 1)) / rows;
    const most = Math.max(1, ...there.map((column) => column.nodes.length));
    const groups = Math.max(1, ...there.map((column) => column.groups.length));
    const room = Math.max(rowHeight, HEAD + 40) - HEAD;
    const unit = cellUnit(most, groups, columnWidth, room);
    let lowest = 0;
    there.forEach((column, at) => {
      column.x = GAP + at * (columnWidth + GAP);
      column.y = bottom;
      column.w = columnWidth;
      lowest = Math.max(lowest, fillColumn(column, unit, cells, size));
      for (const group of column.groups) order.push(...group.nodes);
    });
    for (const column of there) column.h = Math.max(lowest, HEAD + 24);
    bottom += Math.max(lowest, HEAD + 24) + GAP;
  }
  return { columns, cells, order, width, height: bottom };
}

function arranged(number, width) {
  const least = width < 560 ? 104 : 170;
  return Math.max(1, Math.ceil(number / Math.max(1, Math.floor(width / least))));
}

function domainsOf(picture, keyNumber) {
  const key = picture.keys[keyNumber];
  const rack = picture.keys.find((each) => each.key === RACK);
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

function cellUnit(nodes, groups, width, room) {
  let unit = Math.min(150, width - 8);
  while (unit > 4) {
    const across = Math.max(1, Math.floor((width - 8) / unit));
    const down = Math.ceil(nodes / groups / across) * groups;
    if (down * unit + (groups - 1) * 6 + (groups > 1 && unit > 18 ? groups * 14 : 0) <= room) break;
    unit -= unit > 24 ? 2 : 0.5;
  }
  return unit;
}

// Returns how far down it reaches from the column's top.
function fillColumn(column, unit, cells, size) {
  const across = Math.max(1, Math.floor((column.w - 8) / unit));
  const named = column.groups.length > 1 && unit > 18;
  let y = column.y + HEAD;
  for (const group of column.groups) {
    group.y = y;
    if (named) y += 14;
    group.nodes.forEach((node, at) => {
      const side = size(node) * (unit - Math.min(3, unit * 0.15));
      const left = column.x + 4 + (at % across) * unit + (unit - side) / 2;
      const top = y + Math.floor(at / across) * unit + (unit - side) / 2;
      cells.set([left, top, side, side], 4 * node);
    });
    y += Math.ceil(group.nodes.length / across) * unit + 6;
    group.h = y - group.y;
  }
  column.named = named;
  return y - column.y;
}
