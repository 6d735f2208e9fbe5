// A part of the page as a picture: an SVG that holds it with the page's own style, or a PNG that is drawn from that.

const SVG = "http://www.w3.org/2000/svg";
const LARGEST = 16_000; // pixels of a PNG's side

function written(part) {
  part.classList.add("saved"); // nothing is scrolled in a picture
  const width = Math.ceil(part.scrollWidth), height = Math.ceil(part.scrollHeight);
  const made = document.createElementNS(SVG, "svg"), style = document.createElementNS(SVG, "style");
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) made.setAttribute(name, value);
  style.textContent = [...document.styleSheets].flatMap((each) => [...each.cssRules]).map((each) => each.cssText).join("\n");
  const inside = document.createElementNS(SVG, "foreignObject"), body = document.createElement("body");
  for (const side of ["width", "height"]) inside.setAttribute(side, "100%");
  body.append(part.cloneNode(true));
  inside.append(body);
  made.append(style, inside);
  part.classList.remove("saved");
  return { text: new XMLSerializer().serializeToString(made), width, height };
}

async function png({ text, width, height }) {
  const image = new Image(), canvas = document.createElement("canvas");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.min(2, LARGEST / width, LARGEST / height);
  Object.assign(canvas, { width: width * scale, height: height * scale });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// kind: svg or png
export async function save(part, name, kind) {
  const found = written(part);
  const blob = kind === "png" ? await png(found) : new Blob([found.text], { type: "image/svg+xml" });
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `${name}.${kind}` });
  link.click();
  URL.revokeObjectURL(link.href);
}
