// The answers of a report that is one file, in place of a server's: packed into the page by web/one_file.py.

const element = document.getElementById("recorded");

export const isRecorded = element !== null;

/** The query of the address that was recorded, "" or beginning with "?". */
export const recordedQuery = element?.dataset.query ?? "";

if (isRecorded) document.documentElement.dataset.recorded = "";

let unpacked = null;

async function contents() {
  const bytes = Uint8Array.from(atob(element.textContent), (each) => each.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// As one_file.asked_for writes it. The order of words of one name is kept.
function asked(address) {
  const [path, query] = address.split("?");
  const words = [...new URLSearchParams(query ?? "")].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  return JSON.stringify([path, ...words]);
}

/** What was answered to an address, as fetch would give it; 404 with a sentence where nobody asked that then. */
export async function recorded(address) {
  unpacked ??= contents();
  const missing = [404, JSON.stringify({ error: "This is not in the report: topospread serve shows it." })];
  const [status, text] = (await unpacked)[asked(address)] ?? missing;
  return new Response(text, { status, headers: { "Content-Type": "application/json" } });
}
