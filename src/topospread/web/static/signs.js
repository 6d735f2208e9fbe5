// What is drawn on a node: signs told apart by form and not by colour alone, and its name.

export function stripes(context, x, y, w, h, colour) {
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = Math.max(1, w / 14);
  context.beginPath();
  for (let at = -h; at < w; at += Math.max(4, w / 5)) {
    context.moveTo(x + at, y + h);
    context.lineTo(x + at + h, y);
  }
  context.stroke();
  context.restore();
}

export function corner(context, x, y, w, colour) {
  const side = Math.max(3, w * 0.22);
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(x + w - side, y);
  context.lineTo(x + w, y);
  context.lineTo(x + w, y + side);
  context.fill();
}

export function cross(context, x, y, w, h, colour) {
  context.strokeStyle = colour;
  context.lineWidth = Math.max(1.5, w / 14);
  context.beginPath();
  context.moveTo(x + 2, y + 2);
  context.lineTo(x + w - 2, y + h - 2);
  context.moveTo(x + w - 2, y + 2);
  context.lineTo(x + 2, y + h - 2);
  context.stroke();
}

export function shade(context, x, y, w, h, colour) {
  context.globalAlpha = 0.62;
  context.fillStyle = colour;
  context.fillRect(x, y, w, h);
  context.globalAlpha = 1;
}

// Lines on a ground of their own, as stripes and fills go on under them.
export function onGround(context, lines, lettering, style, [x, y], { ink, paper }) {
  context.fillStyle = paper;
  const width = Math.max(...lines.map((line) => lettering.width(line, style)));
  context.fillRect(x - 1, y, width + 2, lettering.height(style, lines.length));
  lettering.draw(context, lines, style, x, y + (style.line - 2) * lettering.em, ink);
}
