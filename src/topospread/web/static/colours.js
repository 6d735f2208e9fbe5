// Colours and shapes of workloads: Okabe and Ito's eight, which the colour-blind tell apart, and a shape for each round.

const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#999999"];
const SHAPES = ["circle", "square", "triangle", "diamond"];
const OUTLINES = {
  circle: "M20 12a8 8 0 1 1-16 0a8 8 0 1 1 16 0z",
  square: "M4 4h16v16h-16z",
  triangle: "M12 4l8 16h-16z",
  diamond: "M12 2.4l9.6 9.6l-9.6 9.6l-9.6-9.6z",
};
const SVG = "http://www.w3.org/2000/svg";

const numbers = new Map();
const known = new WeakMap();

// Row → number of the workload's mark. A workload keeps its mark in every picture, whatever its row is there.
function marksOf(picture) {
  if (!known.has(picture)) {
    const { kind, namespace, name } = picture.workloads;
    known.set(picture, name.map((each, row) => {
      const key = `${kind[row]}/${namespace[row]}/${each}`;
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      return numbers.get(key);
    }));
  }
  return known.get(picture);
}

export function markOf(picture, row) {
  const number = marksOf(picture)[row];
  return { colour: COLOURS[number % COLOURS.length], shape: SHAPES[Math.floor(number / COLOURS.length) % SHAPES.length] };
}

// A path of the shape around a point; the caller fills it, many of one colour at once.
export function addShape(path, shape, x, y, r) {
  if (shape === "circle") {
    path.moveTo(x + r, y);
    path.arc(x, y, r, 0, 2 * Math.PI);
  } else if (shape === "square") {
    path.rect(x - r, y - r, 2 * r, 2 * r);
  } else if (shape === "triangle") {
    path.moveTo(x, y - r);
    path.lineTo(x + r, y + r);
    path.lineTo(x - r, y + r);
    path.closePath();
  } else {
    path.moveTo(x, y - r * 1.2);
    path.lineTo(x + r * 1.2, y);
    path.lineTo(x, y + r * 1.2);
    path.lineTo(x - r * 1.2, y);
    path.closePath();
  }
}

// The same mark as a small picture in a list: hundreds of them are cheaper as SVG than as a canvas each.
export function markElement(picture, row) {
  const mark = markOf(picture, row);
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("viewBox", "0 0 24 24");
  made.setAttribute("class", "mark");
  made.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", OUTLINES[mark.shape]);
  path.setAttribute("fill", mark.colour);
  made.append(path);
  return made;
}

// What a canvas is drawn in follows the page's own colours, light or dark.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return Object.fromEntries(
    ["paper", "ink", "soft", "line", "cell", "used", "full", "accent", "bad", "warn"].map((name) => [name, of(name)]),
  );
}
