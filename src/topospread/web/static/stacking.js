// Tables that are wider than the room they have: a block for each row, in which every cell says what it is.

const ROLES = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };

const widths = new ResizeObserver((changes) => {
  for (const { target } of changes) if (target.dataset.width !== String(target.clientWidth)) fit(target);
});

// Every table of an element that stands in a box which would be scrolled sideways, now and whenever its width changes.
export function stackTables(root) {
  for (const box of root.querySelectorAll("div.scroll")) {
    const table = box.querySelector("table"), heads = [...table.tHead.rows[0].cells].map((each) => each.textContent);
    for (const each of [table, ...table.querySelectorAll("thead, tbody, tr, td")]) each.setAttribute("role", ROLES[each.tagName]);
    for (const head of table.querySelectorAll("th")) head.setAttribute("role", head.scope === "row" ? "rowheader" : "columnheader");
    for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, at) => { if (cell.tagName === "TD") cell.dataset.label = heads[at]; });
    // It is measured once it has been laid out, which nothing waits for.
    delete box.dataset.width;
    widths.unobserve(box);
    widths.observe(box);
  }
}

function fit(box) {
  box.dataset.width = String(box.clientWidth);
  box.classList.remove("stacked");
  box.classList.toggle("stacked", box.scrollWidth > box.clientWidth);
}
