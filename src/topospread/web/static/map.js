// The map on a canvas: drawn from a picture, pointed at, walked through with arrows, made larger and smaller.
// Levels: from afar a node is its fill alone, nearer it has its pods as dots, nearest its name.

import { addShape, markOf, theme } from "./colours.js";
import { paintHead, paintRacks } from "./heads.js";
import { layOut } from "./layout.js";
import { Lettering, NODE } from "./lettering.js";
import { corner, cross, onGround, shade, stripes } from "./signs.js";

const DOTS_FROM = 13, NAME_FROM = 46;
const MOST_SCREENS = 4; // how many of its usual heights a map may have; what is below is reached by moving it
export const CORDONED = 1;
export const TAINTED = 2;
export const NOT_READY = 4;

export class NodeMap {
  // told: {point(node or -1), choose(node)}
  constructor(canvas, told) {
    this.canvas = canvas;
    this.told = told;
    this.scale = 1;
    this.left = this.top = 0;
    this.pointed = this.walked = -1;
    this.shown = { key: 0, fill: "most", workload: -1, constraint: null, rejected: null, node: "" };
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.theme = null;
      this.draw();
    });
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("pointerdown", (event) => { this.from = { x: event.offsetX, y: event.offsetY, left: this.left, top: this.top }; });
    canvas.addEventListener("pointerup", (event) => this.released(event));
    canvas.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.pressed(event));
  }

  show(picture, shown) {
    const anew = picture !== this.picture || shown.key !== this.shown.key;
    this.picture = picture;
    this.shown = shown;
    if (anew) this.arrange();
    this.draw();
  }

  resize() {
    if (!this.picture) return;
    this.arrange();
    this.draw();
  }

  arrange() {
    const width = Math.max(this.canvas.parentElement.clientWidth, 200);
    const height = Math.max(Math.min(innerHeight * 0.62, 1400), 260);
    const em = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    if (this.lettering?.em !== em) this.lettering = new Lettering(em);
    this.layout = layOut(this.picture, this.shown.key, [width, height], this.lettering);
    this.width = width;
    this.height = Math.min(this.layout.height, height * MOST_SCREENS);
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
    this.keepInside();
  }

  keepInside() {
    const across = Math.max(0, this.layout.width * this.scale - this.width);
    const down = Math.max(0, this.layout.height * this.scale - this.height);
    this.left = Math.min(Math.max(this.left, 0), across);
    this.top = Math.min(Math.max(this.top, 0), down);
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, 1), 24);
    this.left = (this.left + x) * (scale / this.scale) - x;
    this.top = (this.top + y) * (scale / this.scale) - y;
    this.scale = scale;
    this.keepInside();
    this.draw();
  }

  whole() {
    this.scale = 1;
    this.left = this.top = 0;
    this.draw();
  }

  // `whole`: everything is to be painted anew; what is pointed at alone is drawn over what was painted.
  draw(whole = true) {
    this.stale = this.stale || whole;
    if (!this.picture || this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.paint();
    });
  }

  paint() {
    if (this.stale) this.paintAll();
    this.stale = false;
    const context = this.canvas.getContext("2d"), ratio = devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.painted, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.strokeStyle = this.theme.accent;
    context.lineWidth = 2.5;
    for (const node of new Set([this.pointed, this.walked])) {
      if (node < 0 || node >= this.picture.nodes.name.length) continue;
      const [x, y, w, h] = this.place(node);
      context.strokeRect(x - 1, y - 1, w + 2, h + 2);
    }
  }

  paintAll() {
    this.theme ??= theme();
    const seen = this.seen();
    this.paintGround(seen);
    const context = this.layer("painted");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.ground, 0, 0);
    const ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paintDots(context, seen);
    this.paintSigns(context, seen);
    this.paintNames(context, seen, this.paintHeads(context));
    this.canvas.dataset.painted = String(Number(this.canvas.dataset.painted ?? 0) + 1);
  }

  // Columns and cells, which a choice does not change: painted anew only where what they are drawn from did.
  paintGround(seen) {
    const of = [this.picture, this.layout, this.theme, this.shown.fill, this.scale, this.left, this.top];
    if (this.groundOf?.every((each, at) => each === of[at])) return;
    this.groundOf = of;
    const context = this.layer("ground"), ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.theme.paper;
    context.fillRect(0, 0, this.width, this.height);
    this.paintColumns(context);
    this.paintCells(context, seen);
  }

  // A canvas of the map's size that is not shown.
  layer(name) {
    const made = this[name] ??= document.createElement("canvas");
    if (made.width !== this.canvas.width) made.width = this.canvas.width;
    if (made.height !== this.canvas.height) made.height = this.canvas.height;
    return made.getContext("2d");
  }

  place(node) {
    const at = 4 * node, cells = this.layout.cells, scale = this.scale;
    return [cells[at] * scale - this.left, cells[at + 1] * scale - this.top, cells[at + 2] * scale, cells[at + 3] * scale];
  }

  boxOf({ x, y, w, h }) {
    return [x * this.scale - this.left, y * this.scale - this.top, w * this.scale, h * this.scale];
  }

  // Rows of the nodes that are inside of what is shown.
  seen() {
    const found = [], number = this.picture.nodes.name.length;
    for (let node = 0; node < number; node++) {
      const [x, y, w, h] = this.place(node);
      if (x + w >= 0 && y + h >= 0 && x <= this.width && y <= this.height) found.push(node);
    }
    return found;
  }

  paintColumns(context) {
    const { soft, line } = this.theme;
    for (const column of this.layout.columns) {
      context.fillStyle = soft;
      context.strokeStyle = line;
      const box = this.boxOf(column);
      context.fillRect(...box);
      if (column.missing) {
        context.setLineDash([5, 4]);
        context.strokeRect(...box);
        context.setLineDash([]);
      }
    }
  }

  use(node) {
    const { allocatable, used } = this.picture.nodes;
    const share = (name) => (allocatable[name][node] ? used[name][node] / allocatable[name][node] : 0);
    const fill = this.shown.fill;
    return Math.min(fill === "most" ? Math.max(share("cpu"), share("memory"), share("pods")) : share(fill), 1);
  }

  // Rectangles one by one: a path of thousands takes ten times as long to be filled.
  paintCells(context, seen) {
    const { cell, used, full, line } = this.theme, flags = this.picture.nodes.flags, edge = 0.6;
    const places = seen.map((node) => this.place(node));
    context.fillStyle = line;
    for (const [x, y, w, h] of places) context.fillRect(x - edge / 2, y - edge / 2, w + edge, h + edge);
    context.fillStyle = cell;
    for (const [x, y, w, h] of places) context.fillRect(x + edge / 2, y + edge / 2, w - edge, h - edge);
    const shares = seen.map((node) => (flags[node] & NOT_READY ? 0 : this.use(node)));
    for (const [colour, is] of [[used, (share) => share <= 0.9], [full, (share) => share > 0.9]]) {
      context.fillStyle = colour;
      places.forEach(([x, y, w, h], at) => {
        const up = (h - edge) * shares[at];
        if (up > 0 && is(shares[at])) context.fillRect(x + edge / 2, y + h - edge / 2 - up, w - edge, up);
      });
    }
  }

  // A dot for each pod, where there is room for dots; of a chosen workload always.
  paintDots(context, seen) {
    const chosen = this.shown.workload, paths = new Map();
    for (const node of seen) {
      const [x, y, w, h] = this.place(node);
      const pods = this.picture.nodes.pods[node];
      if (w < DOTS_FROM) {
        if (chosen >= 0 && countOf(pods, chosen)) this.dot(paths, chosen, x + w / 2, y + h / 2, Math.max(w * 0.32, 1.6));
        continue;
      }
      this.dotsOf(paths, pods, this.nameOf(node, [w, h]), [x, y, w, h]);
    }
    for (const [row, path] of paths) {
      context.globalAlpha = chosen < 0 || row === chosen ? 1 : 0.16;
      context.fillStyle = markOf(this.picture, row).colour;
      context.fill(path);
      if (row === chosen || w0(seen, this) > 30) {
        context.strokeStyle = this.theme.paper;
        context.lineWidth = 0.8;
        context.stroke(path);
      }
    }
    context.globalAlpha = 1;
  }

  // The lines of a node's name, where there is room for all of it in a part of its cell; none where there is not.
  nameOf(node, [w, h]) {
    if (w < NAME_FROM * this.lettering.em) return [];
    const lines = this.lettering.lines(this.picture.nodes.name[node], NODE, w - 4);
    return this.lettering.height(NODE, lines.length) <= 0.6 * h ? lines : [];
  }

  dotsOf(paths, pods, name, [x, y, w, h]) {
    let number = 0;
    for (let at = 1; at < pods.length; at += 2) number += pods[at];
    if (!number) return;
    const head = 2 + this.lettering.height(NODE, name.length);
    const room = [w - 4, h - head - 3];
    let step = Math.min(Math.max(12, w / 7), Math.sqrt((room[0] * room[1]) / number));
    while (step > 1 && Math.floor(room[0] / step) * Math.floor(room[1] / step) < number) step *= 0.94;
    const across = Math.max(1, Math.floor(room[0] / step));
    let place = 0;
    for (let at = 0; at < pods.length; at += 2) {
      for (let one = 0; one < pods[at + 1]; one++, place++) {
        const left = x + 2 + (place % across) * step + step / 2;
        const top = y + head + Math.floor(place / across) * step + step / 2;
        this.dot(paths, pods[at], left, top, Math.max(step * 0.4, 0.7));
      }
    }
  }

  dot(paths, row, x, y, r) {
    if (!paths.has(row)) paths.set(row, new Path2D());
    addShape(paths.get(row), markOf(this.picture, row).shape, x, y, r);
  }

  // What is wrong with a node, by form and not by colour alone: stripes, a bar, a cross; and what is pointed at.
  paintSigns(context, seen) {
    const { ink, bad, warn, accent, paper } = this.theme, { flags, name } = this.picture.nodes;
    const rejected = this.shown.rejected;
    for (const node of seen) {
      const [x, y, w, h] = this.place(node);
      if (flags[node] & CORDONED) stripes(context, x, y, w, h, warn);
      if (flags[node] & TAINTED) corner(context, x, y, w, ink);
      if (flags[node] & NOT_READY) cross(context, x, y, w, h, bad);
      if (rejected && rejected[name[node]] !== undefined) shade(context, x, y, w, h, paper);
      if (name[node] === this.shown.node) {
        context.strokeStyle = accent;
        context.lineWidth = 2.5;
        context.strokeRect(x - 1, y - 1, w + 2, h + 2);
      }
    }
  }

  // Returns how far down the words at the head of each column reach.
  paintHeads(context) {
    const { scale, lettering, theme } = this, room = [this.width, this.height], found = this.shown.constraint;
    return this.layout.columns.map((column) => {
      const box = this.boxOf(column);
      if (box[0] > this.width || box[1] > this.height || box[0] + box[2] < 0 || box[1] + box[3] < 0) return 0;
      const below = paintHead(context, column, { box, room, lettering, theme, found });
      paintRacks(context, column, { box, room, scale, lettering, theme, below });
      return below;
    });
  }

  // In what is shown of a node's cell.
  paintNames(context, seen, below) {
    for (const node of seen) {
      const [x, y, w, h] = this.place(node);
      const left = Math.max(x, 0), top = Math.max(y, below[this.layout.columnOf[node]]);
      const lines = this.nameOf(node, [Math.min(x + w, this.width) - left, Math.min(y + h, this.height) - top]);
      if (lines.length) onGround(context, lines, this.lettering, NODE, [left + 2, top + 1], this.theme);
    }
  }

  at(x, y) {
    const found = this.picture ? this.seen() : [];
    return found.find((node) => {
      const [left, top, w, h] = this.place(node);
      return x >= left && y >= top && x < left + w && y < top + h;
    }) ?? -1;
  }

  moved(event) {
    if (this.from && event.buttons) {
      this.left = this.from.left + this.from.x - event.offsetX;
      this.top = this.from.top + this.from.y - event.offsetY;
      this.keepInside();
      this.draw();
      return;
    }
    this.point(this.at(event.offsetX, event.offsetY));
  }

  released(event) {
    const from = this.from;
    this.from = null;
    if (from && Math.hypot(from.x - event.offsetX, from.y - event.offsetY) < 5) {
      const node = this.at(event.offsetX, event.offsetY);
      if (node >= 0) this.told.choose(node);
    }
  }

  point(node) {
    if (node === this.pointed) return;
    this.pointed = node;
    this.told.point(node);
    this.draw(false);
  }

  // Only with Ctrl, as the page itself is scrolled by the wheel.
  wheeled(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 1.25 : 0.8, event.offsetX, event.offsetY);
  }

  pressed(event) {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: "down", ArrowUp: "up" };
    if (event.key in steps) this.walk(steps[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && this.walked >= 0) this.told.choose(this.walked);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.whole();
    else return;
    event.preventDefault();
  }

  walk(step) {
    const order = this.layout.order, at = order.indexOf(this.walked);
    if (at < 0) this.walked = order[0] ?? -1;
    else if (typeof step === "number") this.walked = order[(at + step + order.length) % order.length];
    else this.walked = this.below(this.walked, step === "down" ? 1 : -1);
    const { left, top } = this;
    this.into(this.walked);
    this.pointed = -1;
    this.point(this.walked);
    this.draw(left !== this.left || top !== this.top);
  }

  below(node, sign) {
    const [x, y, w, h] = this.place(node);
    let best = node, least = Infinity;
    for (const other of this.layout.order) {
      const [left, top, width, height] = this.place(other);
      const down = sign * (top + height / 2 - y - h / 2);
      const aside = Math.abs(left + width / 2 - x - w / 2);
      if (down > h / 3 && down + 3 * aside < least) [best, least] = [other, down + 3 * aside];
    }
    return best;
  }

  into(node) {
    if (node < 0) return;
    const [x, y, w, h] = this.place(node);
    if (x < 0 || x + w > this.width) this.left += x - this.width / 2;
    if (y < this.layout.head || y + h > this.height) this.top += y - this.height / 2;
    this.keepInside();
  }
}

function w0(seen, map) {
  return seen.length ? map.place(seen[0])[2] : 0;
}

export function countOf(pods, workload) {
  for (let at = 0; at < pods.length; at += 2) if (pods[at] === workload) return pods[at + 1];
  return 0;
}
