// What is drawn on a node and at the head of a column: signs told apart by form and not by colour alone, and words.

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

// A name that is too long is shortened in its middle; the whole stands in the line below the map and in the table.
export function label(context, text, x, y, room, colour, size = 10) {
  context.font = context.font.replace(/\d+px/, `${size}px`);
  context.fillStyle = colour;
  let shown = text;
  for (let keep = text.length - 1; keep > 2 && context.measureText(shown).width > room; keep--) {
    shown = `${text.slice(0, Math.ceil(keep / 2))}…${text.slice(text.length - Math.floor(keep / 2))}`;
  }
  if (context.measureText(shown).width <= room + 4) context.fillText(shown, x, y);
}

// A node's name only where there is room for all of it, on a ground of its own: stripes and fills go on under it.
export function whole(context, text, x, y, room, colour, ground) {
  context.font = "10px system-ui, sans-serif";
  const width = context.measureText(text).width;
  if (width > room) return;
  context.fillStyle = ground;
  context.fillRect(x - 1, y - 9, width + 2, 11);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}
