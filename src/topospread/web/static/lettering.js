// Words on a canvas: how wide they are, and over which lines they are broken where they do not fit. None is ever shortened.

const FAMILY = "system-ui, sans-serif";
const MOST_KNOWN = 20_000;
const PIECES = /[^-._/:, ]*[-._/:, ]+|[^-._/:, ]+/g;

// Styles: what is drawn in which weight, size and height of line, in pixels where the page's own letters have 16.
export const NAME = { weight: 600, size: 14, line: 17 };
export const COUNT = { weight: 400, size: 13, line: 16 };
export const SKEW = { weight: 400, size: 12, line: 15 };
export const REFUSED = { weight: 600, size: 12, line: 15 };
export const RACK = { weight: 400, size: 11, line: 14 };
export const NODE = { weight: 400, size: 10, line: 11 };

export class Lettering {
  // em: how much larger than 16 pixels the page's letters are, as they are on wide screens and where the reader wants it.
  constructor(em = 1) {
    this.em = em;
    this.context = document.createElement("canvas").getContext("2d");
    this.widths = new Map();
  }

  font({ weight, size }) {
    return `${weight} ${size * this.em}px ${FAMILY}`;
  }

  height({ line }, lines = 1) {
    return line * this.em * lines;
  }

  width(text, style) {
    const font = this.font(style), key = `${font}\n${text}`;
    let known = this.widths.get(key);
    if (known === undefined) {
      if (this.widths.size > MOST_KNOWN) this.widths.clear();
      this.context.font = font;
      known = this.context.measureText(text).width;
      this.widths.set(key, known);
    }
    return known;
  }

  lines(text, style, room) {
    return broken(text, room, (part) => this.width(part, style));
  }

  // Of the parts that a text may be broken between, the widest.
  widestPart(text, style) {
    return Math.max(0, ...(text.match(PIECES) ?? []).map((piece) => this.width(piece.trimEnd(), style)));
  }

  // Draws lines, the first one's letters standing on y; returns where the next line's would.
  draw(context, lines, style, x, y, colour) {
    context.font = this.font(style);
    context.fillStyle = colour;
    for (const line of lines) {
      context.fillText(line, x, y);
      y += this.height(style);
    }
    return y;
  }
}

// The lines of a text in a room so wide: broken behind its dots, hyphens and spaces, and anywhere only where a part of it
// is too wide by itself. Together they are the text.
export function broken(text, room, width) {
  const lines = [];
  let line = "";
  for (const piece of text.match(PIECES) ?? []) {
    if (line && width((line + piece).trimEnd()) > room) {
      lines.push(line);
      line = "";
    }
    line += piece;
    while (line.length > 1 && width(line.trimEnd()) > room) {
      const kept = fitting(line, room, width);
      lines.push(line.slice(0, kept));
      line = line.slice(kept);
    }
  }
  return line ? [...lines, line] : lines;
}

// How much of a line there is room for, at least one letter and never half of one.
function fitting(line, room, width) {
  const letters = [...line];
  let kept = letters.length - 1;
  while (kept > 1 && width(letters.slice(0, kept).join("")) > room) kept--;
  return letters.slice(0, kept).join("").length;
}
