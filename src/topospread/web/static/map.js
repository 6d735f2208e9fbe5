// The map: a column for each domain, its nodes as cells. Of each group of nodes a handful of paths is drawn, however many
// they are, in the page's own colours; words are words of the page, which breaks them as it breaks all others.

import { breakable, element, plural } from "./elements.js";
import { skewMark } from "./spreads.js";
import { keyOf } from "./workloads.js";

export const CORDONED = 1;
export const TAINTED = 2;
export const NOT_READY = 4;
export const UNKNOWN = 8; // a pod that is not judged may go there

const RACK_KEY = "topology.kubernetes.io/rack";
const GAP = 12, EDGE = 6, LEAST_COLUMN = 170; // pixels, as all here, where the page's letters have 16
const ZOOMS = { "+": 1.25, "=": 1.25, "-": 0.8, 0: 0 };
const DOTS_FROM = 13, NAMES_FROM = 46, LARGEST = 130, LETTER = 6.1, LINE = 12; // the last two: of a node's name
const STRIP_FROM = 1_000, BINS = 50; // nodes from which a domain says how full they are
const SVG = "http://www.w3.org/2000/svg";

export class NodeMap {
  // told: {point(node or -1), choose(node), tries(key, name): buttons, if there are any}
  constructor(box, told) {
    Object.assign(this, { box, told, scale: 1, pointed: -1, columns: [], groups: [], order: [] });
    this.ring = element("div", { className: "ring", hidden: true });
    new ResizeObserver(() => "width" in this && box.clientWidth !== this.width && this.draw()).observe(box);
    box.addEventListener("pointermove", (event) => this.point(this.at(event)));
    box.addEventListener("pointerleave", () => this.point(-1));
    box.addEventListener("click", (event) => this.at(event) >= 0 && told.choose(this.at(event)));
    box.addEventListener("keydown", (event) => this.pressed(event));
  }

  // shown: {key, fill, workload, constraint, rejected, node}; before: the moment that it is compared with, if any
  show(picture, shown, before = null) {
    if (picture === this.picture && before === this.before && Object.keys(shown).every((each) => shown[each] === this.shown[each])) return;
    const isFirst = !this.picture;
    Object.assign(this, { picture, shown, before });
    this.columns = domainsOf(picture, shown.key);
    if (isFirst) requestAnimationFrame(() => setTimeout(() => this.draw())); // the figures and the table are seen first
    else if ("width" in this) this.draw();
  }

  zoom(factor) {
    this.scale = Math.min(Math.max(this.scale * factor, 1), 24);
    this.draw();
  }

  draw() {
    this.width = this.box.clientWidth;
    if (!this.width) return; // it is not shown
    this.em = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    const across = Math.max(1, Math.min(this.columns.length, Math.floor((this.width + GAP) / (LEAST_COLUMN * this.em + GAP))));
    const room = (this.width - GAP * (across - 1)) / across - 2 * EDGE;
    const rows = Math.ceil(this.columns.length / across);
    const unit = Math.min(this.unit(room, Math.max(innerHeight * 0.5, 260) / rows) * this.scale, room);
    this.groups = [];
    this.size = sizes(this.picture.nodes.allocatable.cpu);
    this.tally = this.before ? differences(this.picture, this.before, this.shown.workload) : counts(this.picture, this.shown.workload);
    this.box.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
    this.box.replaceChildren(...this.columns.map((column) => this.column(column, unit, Math.max(1, Math.floor(room / unit)))), this.ring);
    this.order = this.groups.flatMap((group) => group.nodes);
    this.box.dataset.painted = String(Number(this.box.dataset.painted ?? 0) + 1);
    this.mark();
  }

  // The largest cells with which the fullest column is no higher than this.
  unit(room, height) {
    const most = Math.max(1, ...this.columns.map((column) => column.nodes.length));
    const racks = Math.max(1, ...this.columns.map((column) => column.groups.length));
    let unit = Math.min(LARGEST, room);
    while (unit > 4 && Math.ceil(most / racks / Math.floor(room / unit)) * racks * unit > height) unit -= unit > 24 ? 2 : 0.5;
    return unit;
  }

  column(column, unit, across) {
    const made = element("div", { className: column.missing ? "domain missing" : "domain" }, this.title(column), ...this.words(column));
    if (this.picture.nodes.name.length > STRIP_FROM) made.append(this.strip(column));
    for (const { name, nodes } of column.groups) {
      if (column.groups.length > 1) made.append(element("small", {}, name));
      const group = { column, nodes, unit, across, svg: this.cells(nodes, unit, across) };
      this.groups.push(group);
      made.append(group.svg);
    }
    return made;
  }

  // The name of a domain opens what can be tried with it.
  title({ name, missing }) {
    const key = this.picture.keys[this.shown.key], text = element("b", {}, ...breakable(name));
    return missing || !key || !this.told.tries ? text : element("details", { className: "title" }, element("summary", {}, text), ...this.told.tries(key.key, name));
  }

  words(column) {
    const found = this.shown.constraint, pods = found && !column.missing ? found.of.get(column.name) : undefined;
    if (pods === undefined) return [element("span", {}, plural(column.nodes.length, "node"))];
    return [element("span", {}, plural(pods, "pod")), skewMark(found, column.name)];
  }

  // How many nodes are how full, from empty to full.
  strip(column) {
    const bins = new Array(BINS).fill(0);
    for (const node of column.nodes) bins[Math.min(BINS - 1, Math.floor(this.use(node) * BINS))]++;
    const most = Math.max(1, ...bins);
    const title = `${column.name}: nodes by how full they are, from empty to full; at most ${most} alike`;
    return svg("svg", { viewBox: `0 0 ${BINS} 20`, preserveAspectRatio: "none", class: "strip", role: "img", "aria-label": title },
      path("used", bins.map((each, at) => box(at, 20 - (20 * each) / most, 0.9, (20 * each) / most)).join("")));
  }

  cells(nodes, unit, across) {
    const { flags, name } = this.picture.nodes, { rejected, node: chosen } = this.shown;
    const drawn = Object.fromEntries(["cell", "used", "full", "dots", "own", "arrives", "leaves", "cordoned", "tainted", "silent", "unknown", "shade", "chosen"].map((each) => [each, ""]));
    const names = [];
    nodes.forEach((node, at) => {
      const [x, y, side] = this.place(node, at, unit, across);
      const up = this.use(node) * side;
      drawn.cell += box(x, y, side, side);
      if (up > 0) drawn[up > 0.9 * side ? "full" : "used"] += box(x, y + side - up, side, up);
      const lines = side < NAMES_FROM * this.em ? [] : broken(name[node], Math.floor((side - 4) / LETTER / this.em));
      const head = lines.length * LINE * this.em, isNamed = head <= 0.6 * side;
      if (isNamed) lines.forEach((line, row) => names.push(svg("text", { x: x + 2, y: y + (row + 0.8) * LINE * this.em }, line)));
      this.dots(drawn, node, [x, y, side], isNamed ? head : 0);
      if (flags[node] & CORDONED) drawn.cordoned += hatched(x, y, side, 1);
      if (flags[node] & TAINTED) drawn.tainted += `M${f(x + side * 0.78)} ${f(y)}h${f(side * 0.22)}v${f(side * 0.22)}z`;
      if (flags[node] & NOT_READY) drawn.silent += `M${f(x + 2)} ${f(y + 2)}l${f(side - 4)} ${f(side - 4)}m0 ${f(4 - side)}l${f(4 - side)} ${f(side - 4)}`;
      if (flags[node] & UNKNOWN && this.picture.workloads.unjudged[this.shown.workload]) {
        drawn.unknown += hatched(x + side, y, side, -1);
        if (side >= DOTS_FROM) names.push(svg("text", { x: x + side - 8, y: y + side - 3 }, "?"));
      }
      if (rejected?.has(name[node])) drawn.shade += box(x, y, side, side);
      if (name[node] === chosen) drawn.chosen += box(x - 1, y - 1, side + 2, side + 2);
    });
    const size = { width: across * unit, height: Math.max(1, Math.ceil(nodes.length / across)) * unit };
    return svg("svg", { ...size, class: "cells", "aria-hidden": "true" },
      ...Object.entries(drawn).filter(([, d]) => d).map(([kind, d]) => path(kind, d)), ...names);
  }

  // Where a node's cell stands: its left and upper edge, and its side; larger nodes have larger cells.
  place(node, at, unit, across) {
    const side = this.size(node) * (unit - Math.min(3, unit * 0.15));
    return [(at % across) * unit + (unit - side) / 2, Math.floor(at / across) * unit + (unit - side) / 2, side];
  }

  use(node) {
    const { allocatable, used } = this.picture.nodes, { fill } = this.shown;
    const share = (name) => (allocatable[name][node] ? used[name][node] / allocatable[name][node] : 0);
    return Math.min(fill === "most" ? Math.max(share("cpu"), share("memory"), share("pods")) : share(fill), 1);
  }

  // A dot for each pod where there is room for them, else one for each kind that is asked about.
  dots(drawn, node, [x, y, side], head) {
    if (side < DOTS_FROM && this.shown.workload < 0 && !this.before) return;
    const isLost = this.picture.nodes.flags[node] & NOT_READY;
    const tally = Object.entries(this.tally(node)).map(([kind, number]) => [isLost && kind === "own" ? "leaves" : kind, number]).filter(([kind, number]) => number && (side >= DOTS_FROM || kind !== "dots"));
    if (side < DOTS_FROM) {
      tally.forEach(([kind], at) => { drawn[kind] += dot(x + (side * (at + 1)) / (tally.length + 1), y + side / 2, Math.max(side * 0.3, 1.5)); });
      return;
    }
    const number = tally.reduce((sum, [, each]) => sum + each, 0), room = [side - 4, side - head - 5];
    let step = Math.min(Math.max(12, side / 7), Math.sqrt((room[0] * room[1]) / Math.max(number, 1)));
    while (step > 1 && Math.floor(room[0] / step) * Math.floor(room[1] / step) < number) step *= 0.94;
    const across = Math.max(1, Math.floor(room[0] / step));
    let at = 0;
    for (const [kind, count] of tally) {
      for (let one = 0; one < count; one++, at++) {
        drawn[kind] += dot(x + 2 + ((at % across) + 0.5) * step, y + head + 3 + (Math.floor(at / across) + 0.5) * step, Math.max(step * 0.38, 0.7));
      }
    }
  }

  at(event) {
    const group = this.groups.find((each) => each.svg === event.target);
    if (!group) return -1;
    const column = Math.floor(event.offsetX / group.unit);
    return (column < group.across && group.nodes[Math.floor(event.offsetY / group.unit) * group.across + column]) ?? -1;
  }

  point(node) {
    if (node === this.pointed) return;
    this.pointed = node;
    this.told.point(node);
    this.mark();
  }

  // Something is drawn over what is pointed at; nothing else is drawn anew.
  mark() {
    const group = this.groups.find((each) => each.nodes.includes(this.pointed));
    this.ring.hidden = !group;
    if (!group) return;
    const [x, y, side] = this.place(this.pointed, group.nodes.indexOf(this.pointed), group.unit, group.across);
    const there = group.svg.getBoundingClientRect(), here = this.box.getBoundingClientRect();
    Object.assign(this.ring.style, { left: `${there.left - here.left + this.box.scrollLeft + x}px`, top: `${there.top - here.top + this.box.scrollTop + y}px`, width: `${side}px`, height: `${side}px` });
  }

  pressed(event) {
    if (event.target !== this.box) return; // a button in it
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    if (event.key in steps) this.walk(...steps[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && this.pointed >= 0) this.told.choose(this.pointed);
    else if (event.key in ZOOMS) this.zoom(ZOOMS[event.key]);
    else return;
    event.preventDefault();
  }

  // Along the nodes, or a row of cells down or up: past a group's end to the next one.
  walk(along, down) {
    const at = this.order.indexOf(this.pointed);
    const group = this.groups.find((each) => each.nodes.includes(this.pointed));
    const step = along || down * Math.min(group?.across ?? 1, group?.nodes.length ?? 1);
    this.point(this.order[at < 0 ? 0 : (at + step + this.order.length) % this.order.length] ?? -1);
    this.ring.scrollIntoView({ block: "nearest" });
  }
}

const f = (number) => Math.round(number * 10) / 10;
const box = (x, y, w, h) => `M${f(x)} ${f(y)}h${f(w)}v${f(h)}h${f(-w)}z`;
// Lines across a cell, from its left edge (way 1) or its right one (-1).
const hatched = (x, y, side, way) => [1, 2, 3, 4, 5].map((part) => [Math.max(0, part - 3) / 3, Math.min(part, 3) / 3, Math.min(part, 6 - part) / 3].map((each) => each * side))
  .map(([low, down, length]) => `M${f(x + way * low)} ${f(y + down)}l${f(way * length)} ${f(-length)}`).join("");
const dot = (x, y, r) => `M${f(x - r)} ${f(y)}a${f(r)} ${f(r)} 0 1 0 ${f(2 * r)} 0a${f(r)} ${f(r)} 0 1 0 ${f(-2 * r)} 0`;
const path = (kind, d) => svg("path", { class: kind, d });

function svg(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A name in lines of so many letters, broken behind its hyphens and dots, elsewhere only where a part is too long.
function broken(text, letters) {
  const lines = [""];
  for (const piece of text.match(/[^-.]*[-.]|[^-.]+/g)?.flatMap((each) => each.match(new RegExp(`.{1,${letters}}`, "g"))) ?? []) {
    if (lines.at(-1).length + piece.length > letters) lines.push("");
    lines[lines.length - 1] += piece;
  }
  return lines.filter(Boolean);
}

// Node → how many pods are drawn how.
function counts({ nodes }, workload) {
  return (node) => {
    const all = countOf(nodes.pods[node]), own = countOf(nodes.pods[node], workload);
    return { dots: all - own, own, leaves: countOf(nodes.terminating[node], workload) };
  };
}

// Of two moments: what stays, what comes and what leaves, of all workloads or of the chosen one.
function differences(now, before, workload) {
  const rows = new Map(now.workloads.name.map((_, row) => [keyOf(now.workloads, row), row]));
  const was = new Map(before.nodes.name.map((name, node) => [name, before.nodes.pods[node]]));
  const pairs = (list, of) => new Map(list.flatMap((row, at) => (at % 2 ? [] : [[of(row), list[at + 1]]])));
  return (node) => {
    const here = pairs(now.nodes.pods[node], (row) => row);
    const there = pairs(was.get(now.nodes.name[node]) ?? [], (row) => rows.get(keyOf(before.workloads, row)) ?? `gone ${row}`);
    const found = { dots: 0, own: 0, arrives: 0, leaves: 0 };
    for (const row of new Set([...here.keys(), ...there.keys()])) {
      const is = here.get(row) ?? 0, had = there.get(row) ?? 0;
      if (workload >= 0 && row !== workload) found.dots += is;
      else {
        found.own += Math.min(is, had);
        found.arrives += Math.max(0, is - had);
        found.leaves += Math.max(0, had - is);
      }
    }
    return found;
  };
}

function domainsOf(picture, keyNumber) {
  const key = picture.keys[keyNumber];
  const rack = picture.keys.find((each) => each.key === RACK_KEY);
  const columns = (key ? key.values : ["all nodes"]).map((name) => ({ name, missing: false, nodes: [] }));
  const missing = { name: key ? `without ${key.key}` : "", missing: true, nodes: [] };
  picture.nodes.name.forEach((_, node) => {
    const code = key ? key.of[node] : 0;
    (code < 0 ? missing : columns[code]).nodes.push(node);
  });
  const shown = [...columns, missing].filter((column) => column.nodes.length);
  for (const column of shown) column.groups = racksOf(column.nodes, rack && key !== rack ? rack : null);
  return shown;
}

function racksOf(nodes, rack) {
  const by = Map.groupBy(nodes, (node) => (rack && rack.of[node] >= 0 ? rack.values[rack.of[node]] : ""));
  return [...by].sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true })).map(([name, own]) => ({ name, nodes: own }));
}

// A node with a quarter of the largest's CPU has half its side.
function sizes(cpu) {
  const most = cpu.reduce((top, each) => Math.max(top, each), 1);
  return (node) => Math.max(0.45, Math.sqrt(Math.max(cpu[node], 1) / most));
}

// Pods of a workload among [row, pods, row, pods, …]; without a workload, all of them.
export const countOf = (pods, workload = -1) => pods.reduce((sum, each, at) => sum + (at % 2 && (workload < 0 || pods[at - 1] === workload) ? each : 0), 0);
