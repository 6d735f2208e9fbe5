// The page of the playground: nothing is loaded before the first question of all, and all of it comes from this site.
const byId = (id) => document.getElementById(`playground-${id}`);
const assets = new URL(".", import.meta.url);
const form = byId("form");
const status = byId("status");
// In a shadow root: an answer has a style of its own, which is not that of the site's text.
const answer = byId("answer").attachShadow({ mode: "open" });

let worker;
let asked = 0;
let loaded = ""; // names and sizes of the files, which are in the browser once they were used

function started() {
  if (!worker) {
    worker = new Worker(new URL("worker.js", assets), { type: "module" });
    worker.onmessage = ({ data }) => {
      if (data.failed) failed(data.failed);
      else if (data.ready) say(asked ? "topospread runs; it answers …" : "topospread runs.");
      else if (data.id === asked) show(data.told);
    };
    worker.onerror = (error) => failed(error.message || "the worker did not start");
  }
  return worker;
}

function say(words) {
  status.textContent = words;
}

function failed(words) {
  worker?.terminate();
  worker = undefined;
  form.removeAttribute("aria-busy");
  say(`The playground failed: ${words}`);
}

function show({ command, html, error, seconds }) {
  form.removeAttribute("aria-busy");
  say(`Answered in ${seconds.toFixed(2)} s.`);
  byId("command").textContent = command;
  if (error) answer.textContent = error;
  else answer.innerHTML = html;
  byId("result").hidden = false;
  inColours();
  localStorage.setItem("topospread-playground", loaded);
}

// An answer brings the colours for what the system prefers; this page has a switch of its own.
function inColours() {
  const dark = document.body.dataset.mdColorScheme === "slate";
  for (const style of answer.querySelectorAll("style")) {
    style.dataset.text ??= style.textContent;
    style.textContent = style.dataset.text.replace("(prefers-color-scheme:dark)", dark ? "all" : "not all");
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  asked += 1;
  form.setAttribute("aria-busy", "true");
  say(worker ? "It answers …" : "Loading Python and topospread from this site …");
  const [question, manifest, cluster, target] = ["question", "manifest", "cluster", "target"].map(
    (name) => byId(name).value,
  );
  started().postMessage({ id: asked, question, manifest, cluster, target: target.trim() });
});

byId("question").addEventListener("change", () => {
  byId("target").disabled = !["why", "promise show"].includes(byId("question").value);
});

new MutationObserver(inColours).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });

async function begin() {
  const responses = await Promise.all(["files.json", "examples.json"].map((name) => fetch(new URL(name, assets))));
  if (responses.some((each) => !each.ok)) {
    say("This copy of the site is without the playground's files; `make playground site` puts them in.");
    return;
  }
  const [sizes, examples] = await Promise.all(responses.map((each) => each.json()));
  const choice = byId("example");
  for (const { name, title, why } of examples) choice.add(Object.assign(new Option(title, name), { title: why }));
  choice.addEventListener("change", () => {
    const chosen = examples.find(({ name }) => name === choice.value);
    for (const part of ["manifest", "cluster"]) if (chosen) byId(part).value = chosen[part];
  });
  const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  say(`The first question loads ${(total / 1e6).toFixed(1)} MB from this site; the browser keeps them.`);
  for (const [name, size] of Object.entries(sizes)) {
    const row = byId("files").insertRow();
    row.insertCell().textContent = name;
    row.insertCell().textContent = `${(size / 1e6).toFixed(2)} MB`;
  }
  byId("ask").disabled = false;
  loaded = JSON.stringify(sizes);
  if (localStorage.getItem("topospread-playground") !== loaded) return;
  say("topospread starts: its files are in the browser since the last time.");
  started();
}

begin();
