// The page of the map: what is in the address is asked for and shown, and whatever is chosen goes into the address.

import { addressOf, putAddress, readAddress, request } from "./address.js";
import { aged, ageTimes, ageWords, breakable, copy, element, plural, reported, sum, tries } from "./elements.js";
import { save } from "./export.js";
import { ask, changed } from "./fetching.js";
import { countOf, NodeMap, UNKNOWN } from "./map.js";
import { figuresOf, Overview } from "./overview.js";
import { isRecorded } from "./recorded.js";
import { drawLimit, spreadAnswered, spreadOf } from "./spreads.js";
import { stackTables } from "./stacking.js";
import { domainTable, percent, words } from "./table.js";
import { Trial } from "./trial.js";
import { keyOf, workloadList } from "./workloads.js";

const by = (id) => document.getElementById(id);
const waitingWords = ({ waiting, unjudged }) => [waiting && `${waiting} pending`, unjudged && `${unjudged} not judged`].filter(Boolean).join(", ").replace(/.+/, " ($&)");
const isPhone = () => matchMedia("(max-width: 37.5rem)").matches;

class MapPage {
  // view: what is in the address; turn: counts what was chosen, as only the last answer is shown; asking, slots: end the
  // questions under way; troubles: each stays until its own cause is gone, of another server until something is chosen
  constructor() {
    const view = readAddress(), nothing = { now: null, beforehand: null, constraint: null, rejected: null, settled: null };
    Object.assign(this, nothing, { view, pictures: new Map(), answered: new Map(), frames: [], turn: 0, asking: new AbortController(), slots: new Map() });
    this.troubles = { cluster: by("trouble").textContent, server: "", answer: "", other: "" };
    this.panel = by("panel");
    const told = { workload: (workload) => this.choose({ workload, node: "", pod: "" }), node: (node) => this.chooseNode(node), filter: (filter) => { this.go({ filter, pod: "", node: "", workload: "" }); if (isPhone()) by("matrix").scrollIntoView(); } };
    this.map = new NodeMap(by("now").querySelector("div"), { point: (node) => this.pointAt(node), choose: told.node, tries });
    this.overview = new Overview(by("figures"), by("matrix"), told);
    this.trial = new Trial(by("trial"), by("result"), { choose: (steps) => this.go({ steps, at: "" }), add: (step) => this.add((steps) => [...steps, step]) });
    this.listen();
  }

  // Changes of what is looked at: a new entry in the history, as Back has to go back.
  go(changes) {
    const before = this.view;
    this.say("other", "");
    this.view = { ...this.view, ...changes };
    putAddress(this.view, true);
    // What only chooses something in the same moment needs nothing of the trial anew.
    const same = this.now && before.at === this.view.at && before.beside === this.view.beside && before.steps.join("\n") === this.view.steps.join("\n");
    if (!same) return this.refresh();
    this.fillKeys();
    if (this.isLoading) { // what is under way goes on, and shows in the end what is chosen now
      if (this.panel.dataset.wanted) this.panel.replaceChildren(this.backButton(), element("p", { role: "status" }, "Waits for what is played …"));
      return this.drawMaps();
    }
    this.turn++;
    return this.showChosen();
  }

  // A step continues what is shown: steps after the shown moment are left out, which is said, and they can be had back.
  add(change, more = {}) {
    const { steps, at } = this.view, kept = at === "" ? steps : steps.slice(0, Math.max(at - 1, 0)), made = change(kept);
    if (kept.length < steps.length) this.left = { of: made.join("\n"), steps };
    this.go({ steps: made, at: "", ...more });
  }

  async picture(at, signal, steps = this.view.steps) {
    if (at === "baseline") return (this.earlier ??= await ask(request("/api/picture", [], at))); // it never changes
    const address = request("/api/picture", steps, at);
    if (!this.pictures.has(address)) {
      this.pictures.set(address, await ask(address, signal));
      if (this.pictures.size > 12) this.pictures.delete(this.pictures.keys().next().value);
    }
    return this.pictures.get(address);
  }

  async refresh() {
    const mine = ++this.turn;
    this.isLoading = true;
    [this.asking, this.slots.get(by("result"))].forEach((each) => each?.abort()); // nobody needs the answers before
    this.asking = new AbortController();
    const { signal } = this.asking;
    const late = setInterval(() => this.trial.working(this.view.steps, () => this.cancel()), 300);
    const far = this.view.steps.length ? this.tell("", {}, (says) => this.trial.far?.replaceChildren(says)) : 0;
    try {
      // While steps are played, things are shown as they were read.
      if (!this.now && this.view.steps.length) this.picture("0", signal, []).then((found) => this.now || this.drawSoon(found), () => {});
      // The map needs no list of frames: both are asked for at once, and it is drawn as soon as it is there.
      const drawing = this.picture(this.view.at, signal).then((found) => {
        if (mine === this.turn) this.drawSoon(found);
        return found;
      });
      const [told, drawn] = await Promise.all([ask(request("/api/trial", this.view.steps, this.view.at), signal), drawing]);
      if (mine !== this.turn) return;
      this.frames = told.frames;
      this.now = drawn;
      by("maps").dataset.at = told.at;
      this.showFrames(told.at);
      this.fillKeys();
      clearInterval(late); // else the result is taken for one under way, and emptied, while what is beside it is asked for
      this.trial.show(this.view, told);
      this.fillSlots(by("result"));
      await this.showBeside(told.at);
      this.settled = this.view;
      this.say("answer", "");
    } catch (error) {
      if (mine !== this.turn) return;
      this.say("answer", error.step == null ? error.message : ""); // a step's error is said once, beside the step
      this.trial.refused(this.view, error);
      if (!this.now) throw error;
    } finally {
      [late, far].forEach((each) => clearInterval(each));
      this.isLoading &&= mine !== this.turn;
    }
    await this.showChosen();
  }

  // Says again and again how far what is asked is, until it is cleared.
  tell(at, words, says) {
    return isRecorded ? 0 : setInterval(() => ask(request("/api/progress", this.view.steps, at, words)).then((told) => says(told.says), () => {}), 300);
  }

  // Back to what was shown before.
  cancel() {
    this.asking.abort();
    this.trial.work.replaceChildren();
    this.view = this.settled ?? { ...this.view, steps: [], at: "", beside: "" };
    putAddress(this.view, false);
    this.refresh();
  }

  // As soon as the picture is there: the map, with what is chosen; its panel comes later.
  drawSoon(found) {
    Object.assign(this, { now: found, constraint: null, rejected: null });
    this.fillKeys();
    this.drawMaps();
  }

  say(of, trouble) {
    this.troubles[of] = trouble;
    const all = Object.values(this.troubles).filter(Boolean).join(" ");
    Object.assign(by("trouble"), { textContent: all, hidden: !all });
  }

  showFrames(at) {
    by("frames").replaceChildren(...this.frames.map((frame, number) => element("li", {},
      element("button", { type: "button", onclick: () => this.go({ at: String(number) }), ...(number === at ? { "aria-current": "step" } : {}) },
        `${number > 1 ? `${number - 1}. ` : ""}${frame.label}${waitingWords(frame)}`))));
    this.markMoment(at);
    const choice = by("beside"), moments = [["", "nothing"], ...this.frames.map(({ label }, number) => [String(number), label]), ...Object.entries(this.baselines())];
    choice.replaceChildren(...moments.map(([value, label]) => element("option", { value }, label)));
    choice.value = this.view.beside;
  }

  // Above figures that are simulated it stands that they are, and the way back; and steps that are not in what is shown.
  markMoment(at) {
    const { steps } = this.view, named = (from, to) => this.frames.slice(from, to).map(({ label }) => label.replace("topology.kubernetes.io/", "")).join(", then ");
    const later = steps.length ? named(Math.max(at, 1) + 1) : "", left = this.left?.of === steps.join("\n") && this.left.steps;
    const to = (words, changes) => element("button", { type: "button", onclick: () => this.go(changes) }, words), says = (...words) => element("span", {}, ...words), simulated = steps.length || (at && this.view.at);
    by("moment").replaceChildren(
      ...(simulated && at ? [says(element("b", {}, "Simulated, not the cluster: "), `${named(2, at + 1) || "pending pods placed"}. `), to("Show the cluster as read", { at: "0", beside: "" })] : [says(at ? "Pending pods are placed in a simulation." : "The cluster as read.")]),
      ...(later ? [says(` Not in this: ${later}. A step tried here starts without it. `), to("Show it", { at: "" })] : []),
      ...(left ? [says(` Left out, as it was not shown when you tried this: ${left.join(", then ")}. `), to("Go back to it", { steps: left, at: "" }), " ", element("button", { type: "button", onclick: () => { this.left = null; this.markMoment(at); } }, "Forget it")] : []));
    by("moment").classList.toggle("simulated", Boolean(simulated));
  }

  // What else can be compared with: the what-if that was kept, the snapshot that the server was given.
  baselines() {
    const { base } = this.view, { baseline } = by("state").dataset;
    return { ...(base && { base: `the baseline, ${base.replaceAll("\n", ", ")}` }), ...(baseline && { baseline: `the earlier snapshot, ${baseline}` }) };
  }

  async showBeside(at) {
    const { base, steps } = this.view, beside = this.view.beside === String(at) ? "" : this.view.beside, isBase = beside === "base";
    const label = this.baselines()[beside] ?? this.frames[beside === "" ? -1 : Number(beside)]?.label;
    const before = this.beforehand = label ? await this.picture(isBase ? "" : beside, this.asking.signal, isBase ? base.split("\n") : steps) : null;
    const counts = ({ waiting, nodes, workloads: { hardExceeded, unjudged } }) => `${plural(nodes.name.length, "node")}, ${plural(waiting - sum(unjudged), "pod")} pending, ${plural(hardExceeded.filter(Boolean).length, "workload")} over a hard maxSkew`;
    by("now").querySelector("figcaption").textContent = label ? `What changed since: ${label}. Then ${counts(before)}; now ${counts(this.now)}.` : "";
  }

  fillKeys() {
    const choice = by("key"), names = this.now.keys.map((each) => each.key);
    if (choice.dataset.names !== names.join()) {
      choice.dataset.names = names.join();
      choice.replaceChildren(...(names.length ? names.map((name) => element("option", { value: name }, name)) : [element("option", { value: "" }, "none")]));
    }
    choice.value = names.includes(this.view.key) ? this.view.key : names[0] ?? "";
    by("fill").value = this.view.fill || "most";
  }

  // What the map shows beside the picture: the workload, its constraint on this key, who is rejected, the node.
  shown(of) {
    const key = of.keys.findIndex((each) => each.key === (this.view.key || of.keys[0]?.key));
    const named = this.view.workload || this.owner, row = named ? of.workloads.name.findIndex((_, at) => keyOf(of.workloads, at) === named) : -1;
    const spread = spreadOf(of, row, Math.max(key, 0)) ?? (of === this.now ? this.constraint : null);
    return { key: Math.max(key, 0), fill: this.view.fill || "most", workload: row, constraint: spread, rejected: of === this.now ? this.rejected : null, node: this.view.node };
  }

  drawMaps() {
    if (!this.now) return;
    this.map.show(this.now, this.shown(this.now), this.beforehand);
    this.overview.show(this.now, this.shown(this.now).key, this.view);
    if (by("table").open) this.fillTable();
  }

  fillTable() {
    by("table").querySelector("div").replaceChildren(...domainTable(this.now, this.map.columns, this.shown(this.now), (node) => this.chooseNode(node)));
    stackTables(by("table"));
  }

  async showChosen() {
    this.constraint = this.rejected = this.owner = null;
    this.drawMaps();
    this.choosing?.abort(); // nobody needs to know any more why
    this.choosing = new AbortController();
    const mine = this.turn;
    const asked = this.view.pod ? "pod" : this.view.node ? "node" : this.view.workload ? "workload" : "";
    try {
      const [own, spread] = await Promise.all([asked ? this.answer(asked) : null, this.view.workload && asked !== "workload" ? this.answer("workload") : null]);
      if (mine !== this.turn) return;
      const workload = asked === "workload" ? own : spread;
      const key = this.now.keys[this.shown(this.now).key]?.key;
      this.trial.choose(this.view, workload, this.now, this.map.columns);
      this.constraint = spreadAnswered(workload?.constraints ?? [], key);
      this.owner = asked === "pod" ? own.workload : "";
      this.rejected = asked === "pod" ? new Map(Object.entries(own.rejected)) : null;
      // Mostly the picture had all of it, and the map is as it should be.
      if (this.rejected || (this.constraint && !spreadOf(this.now, this.shown(this.now).workload, this.shown(this.now).key))) this.drawMaps();
      if (own) this.fillPanel(own.html);
      else this.listWorkloads();
    } catch (error) {
      if (mine !== this.turn) return;
      this.listWorkloads(); // a shared address may name what is gone: that is said, and the rest can be used
      this.panel.prepend(element("p", { className: "bad" }, error.message), this.backButton());
    }
  }

  answer(what) {
    const at = by("maps").dataset.at;
    if (what === "pod") {
      const target = this.view.pod, says = element("p"), far = this.tell(at, { target }, (words) => { says.textContent = words; });
      this.panel.replaceChildren(this.backButton(), element("p", { role: "status" }, `Asking why ${target} …`), says, element("progress", { "aria-label": "Asking" }));
      return ask(request("/api/why", this.view.steps, at, { target }), this.choosing.signal).finally(() => clearInterval(far));
    }
    if (what === "node") return ask(request("/api/node", this.view.steps, at, { name: this.view.node }));
    const [kind, namespace, ...name] = this.view.workload.split("/");
    return ask(request("/api/workload", this.view.steps, at, { kind, namespace, name: name.join("/") }));
  }

  // Parts that are asked for once the rest is there: at once, or when they are opened. Who leaves them ends the work.
  fillSlots(root = this.panel, again = false) {
    if (!again) (this.slots.get(root)?.abort(), this.slots.set(root, new AbortController()));
    const { signal } = this.slots.get(root), at = by("maps").dataset.at;
    for (const slot of root.querySelectorAll("[data-ask]")) {
      const [path, words] = slot.dataset.ask.split("?"), box = slot.querySelector("[role=status]") ?? slot.appendChild(element("div", { role: "status" }));
      const fill = async () => {
        const asked = Object.fromEntries(new URLSearchParams(words)), address = request(path, this.view.steps, at, asked), known = this.answered.get(address);
        const far = element("span"), began = Date.now(), telling = known ? 0 : this.tell(at, asked, (told) => { far.textContent = `${told ? `${told}, ` : ""}${Math.round((Date.now() - began) / 1000)} s`; });
        const wait = () => box.append("Asking … ", far, element("progress", { "aria-label": "Asking" }));
        if (!again && !known) wait(box.replaceChildren());
        try {
          // Causes come first; changes that help are tried, which takes longer.
          if (slot.dataset.first && !again && !known && !isRecorded) {
            box.innerHTML = (await ask(`${address}&${slot.dataset.first}=1`, signal)).html;
            ageTimes(box);
            wait();
          }
          const found = known ?? (await ask(address, signal));
          this.answered.set(address, found);
          box.innerHTML = found.html;
          ageTimes(box);
          stackTables(box);
        } catch (error) {
          box.replaceChildren(error.message);
        }
        clearInterval(telling);
      };
      if (slot.localName !== "details") fill();
      else if (!again) slot.addEventListener("toggle", fill, { once: true });
    }
  }

  // The server's own templates, in which every name is escaped.
  fillPanel(html) {
    const { steps } = this.view, filled = [steps, by("maps").dataset.at, html].join("\n"), isSame = filled === this.filled && this.panel.querySelector("h2");
    this.filled = filled;
    if (isSame) return this.fillSlots(this.panel, true); // nothing is closed, and what was asked by opening it stays
    const box = element("div"), isOurs = this.panel.contains(document.activeElement), { limit } = document.activeElement.dataset;
    box.innerHTML = html;
    ageTimes(box);
    this.panel.replaceChildren(this.backButton(), box);
    stackTables(box);
    this.fillSlots();
    const head = (limit !== undefined && box.querySelector(`[data-limit="${limit}"]`)) || box.querySelector("h2");
    if (document.activeElement === document.body || isOurs || this.panel.dataset.wanted) head?.focus({ preventScroll: true });
    this.reached();
  }

  // What was asked for is shown: the panel is scrolled to where its head is out of sight, and always on a phone.
  reached(head) {
    if (head && this.panel.dataset.wanted) this.panel.querySelector(head).focus({ preventScroll: true });
    if (this.panel.dataset.wanted && (this.panel.getBoundingClientRect().top < 0 || isPhone())) this.panel.scrollIntoView();
    delete this.panel.dataset.wanted;
  }

  backButton() {
    const isWithin = this.view.pod && (this.view.node || this.view.workload), step = isWithin ? { pod: "" } : { pod: "", node: "", workload: "" };
    return element("button", { type: "button", onclick: () => this.choose(step) }, isWithin || this.view.filter ? "← Back" : "← All workloads");
  }

  listWorkloads() {
    this.filled = null;
    const found = this.list, { filter } = this.view; // what was answered about the same picture stays
    if (found?.of === this.now && found.filter === filter && (found.box.querySelector(".cause") || !found.box.querySelector("[data-ask]"))) {
      if (!this.panel.contains(found.box)) {
        this.panel.replaceChildren(found.box);
        Object.assign(by("find"), { value: "" }).dispatchEvent(new Event("input"));
      }
      return this.reached("h2");
    }
    const typed = this.panel.contains(document.activeElement) && document.activeElement.id === "find" ? document.activeElement.value : null, [, title, , rows] = figuresOf(this.now)[filter] ?? [];
    const box = element("div", {}, ...workloadList(this.now, Number(by("maps").dataset.at) < 2, { filter, title, rows }, {
      all: () => this.choose({ filter: "" }), workload: (workload) => this.choose({ workload, node: "", pod: "" }),
      pod: (pod) => this.choose({ pod }),
      node: (node) => this.choose({ node, pod: "" }),
      find: (q) => ask(request("/api/find", this.view.steps, by("maps").dataset.at, { q })).catch(() => ({ pods: { number: 0 }, nodes: { number: 0 } })),
    }));
    this.list = { of: this.now, filter, box };
    this.panel.replaceChildren(box);
    this.fillSlots();
    if (typed !== null) (Object.assign(by("find"), { value: typed }).dispatchEvent(new Event("input")), by("find").focus({ preventScroll: true }));
    this.reached("h2");
  }

  // The panel shows it, and gets the focus.
  choose(changes) {
    this.panel.dataset.wanted = "1";
    this.go(changes);
  }

  // Beside why a pod waits it is said why it is not there; otherwise the node itself is shown.
  chooseNode(node) {
    const name = this.now.nodes.name[node], open = () => this.choose({ node: name, pod: "" });
    if (!this.rejected) return open();
    this.panel.querySelector("[data-node]")?.remove();
    this.panel.prepend(element("p", { role: "status", "data-node": name }, element("b", {}, name), `: ${this.rejected.get(name) ?? "no filter rejects it"}. `, element("button", { type: "button", onclick: open }, "Show the node")));
  }

  pointAt(node) {
    const line = by("pointed");
    if (!this.now || node < 0) return line.replaceChildren();
    const { name, allocatable, used, flags, pods } = this.now.nodes, row = this.shown(this.now).workload;
    const share = ["cpu", "memory"].map((each) => `${each === "cpu" ? "CPU" : each} ${percent(used[each][node], allocatable[each][node])}`);
    const parts = [name[node], ...share, `${used.pods[node]} pods`];
    parts.push(...[aged(this.now.nodes.taints[node]), words(flags[node] & UNKNOWN)].filter(Boolean));
    if (this.rejected) parts.push(this.rejected.get(name[node]) ?? "no filter rejects it");
    if (row >= 0) parts.push(`${countOf(pods[node], row)} of ${this.now.workloads.name[row]}`);
    line.textContent = parts.join(" · ");
  }

  // Buttons in what the server wrote: a pod or a workload to show, steps to try or to take back, a text to copy.
  pressed({ target }) {
    const { dataset } = target.closest("button") ?? target, { steps } = this.view;
    if (dataset.pod) this.choose({ pod: dataset.pod });
    else if (dataset.workload) this.choose({ workload: dataset.workload, pod: "", node: "" });
    else if (dataset.replaces) this.go({ steps: steps.map((each) => (each === dataset.replaces ? dataset.step : each)), at: "" });
    else if (dataset.step) this.add((before) => [...before, ...dataset.step.split("\n")], { beside: by("maps").dataset.at, pod: "" });
    else if (dataset.without) this.go({ steps: steps.toSpliced(Number(dataset.without), 1), at: "" });
    else if (dataset.keep) this.go({ base: steps.join("\n"), beside: "base" });
    else if (dataset.copy !== undefined) copy(dataset.copy || new URL(addressOf({ ...this.view, filter: "" }), location).href, target.closest("button"));
    else if (dataset.to) this.lead(dataset.to);
    if (dataset.said) target.closest("button").nextElementSibling.textContent = dataset.said;
  }

  // To a part of the page.
  lead(to) {
    if (to === "panel" || to === "find") this.choose({ pod: "", node: "", workload: "" });
    else by(to).scrollIntoView();
    if (to === "find") setTimeout(() => (by("find")?.focus({ preventScroll: true }), by("find")?.scrollIntoView({ block: "start" })));
  }

  // Keys: / finds, 1 to 5 are the figures, [ and ] go in time, Escape ends what is played or closes what is chosen.
  typed(event) {
    const { key, target } = event, at = Number(by("maps").dataset.at);
    if (event.ctrlKey || event.metaKey || event.altKey || (target.closest("input, select, textarea") && key !== "Escape")) return;
    const button = by("trial").querySelector("[role=status] button"), { pod, node, workload } = this.view;
    if (key === "/") this.lead("find");
    else if (key >= "1" && key <= "5") by("figures").querySelectorAll("button")[key - 1]?.click();
    else if (key === "[" && at > 0) this.go({ at: String(at - 1) });
    else if (key === "]" && at < this.frames.length - 1) this.go({ at: String(at + 1) });
    else if (key === "Escape" && button) button.click();
    else if (key === "Escape" && (pod || node || workload)) this.choose({ pod: "", node: "", workload: "" });
    else return;
    event.preventDefault();
  }

  listen() {
    new ResizeObserver(([{ target }]) => document.documentElement.style.setProperty("--showing", `${target.offsetHeight}px`)).observe(by("moment").parentElement);
    // A limit that is dragged moves its lines at once; the server tries what is let go of, in place of what was tried of it.
    const dragged = ({ id, dataset }) => dataset.limit ?? /^maxSkew-(\d+)/.exec(id)?.[1];
    document.addEventListener("input", ({ target: it }) => {
      if (dragged(it)) drawLimit(this.panel, dragged(it), Number(it.value));
      if (it.matches("[type=range][data-try]")) by(it.id.replace("-range", "")).value = it.value;
    });
    document.addEventListener("change", ({ target: it }) => {
      if (it.dataset.limit) Object.assign(by(`maxSkew-${it.dataset.limit}-range`), { value: it.value }).dispatchEvent(new Event("change", { bubbles: true }));
      if (!it.dataset.instead || it.value === "") return;
      const step = (it.selectedOptions?.[0] ?? it).dataset.try.replace("VALUE", it.value);
      this.add((steps) => [...steps.filter((each) => !each.startsWith(it.dataset.instead)), step]);
    });
    document.addEventListener("click", (event) => this.pressed(event));
    document.addEventListener("keydown", (event) => this.typed(event));
    for (const name of ["key", "beside"]) by(name).addEventListener("change", ({ target: { value } }) => this.go({ [name]: value }));
    by("fill").addEventListener("change", ({ target: { value } }) => this.go({ fill: value === "most" ? "" : value }));
    for (const [name, factor] of [["larger", 1.5], ["smaller", 1 / 1.5], ["whole", 0]]) by(name).addEventListener("click", () => this.now && this.map.zoom(factor));
    for (const kind of ["svg", "png"]) by(`save-${kind}`).addEventListener("click", ({ target }) => reported(target, () => save(by(by("save").value), by("save").value, kind), "saved"));
    by("table").addEventListener("toggle", () => by("table").open && this.now && this.fillTable());
    addEventListener("popstate", () => { this.view = readAddress(); this.refresh(); });
  }

  // Another state was read, or none can be had: what is shown follows, or says how old it is.
  follow() {
    const events = new EventSource("/events");
    let known = { revision: Number(by("state").dataset.revision) };
    const told = (event) => {
      const state = JSON.parse(event.data), age = ageWords(state.age);
      by("state").classList.toggle("warn", state.age > (state.live ? 60 : 3600));
      by("state").title = `read at ${new Date(Date.now() - 1000 * state.age).toISOString()}`;
      by("state").replaceChildren(...breakable(state.name), ` · ${state.nodes} nodes · Kubernetes ${state.kubeVersion}${state.live || state.trouble ? ` · read ${age} ago` : ""}`);
      this.say("cluster", state.trouble ? `${state.trouble}. What is shown was read ${age} ago.` : "");
      this.say("server", "");
      this.connected(true);
      const isOf = (part) => known.server === undefined || known[part] === state[part];
      if (!isOf("name")) this.say("other", `The server was started anew: this is ${state.name} now, before it was ${known.name}.`);
      else if (!isOf("cluster")) this.say("other", `This is another cluster than before, under the same name: ${state.name}.`);
      if (!isOf("server") || state.revision !== known.revision) {
        // The picture that is shown without steps changes where it changed; all else is asked for anew.
        const address = request("/api/picture", [], ""), before = this.pictures.get(address), { changes } = state;
        this.pictures.clear();
        this.answered.clear();
        if (before && isOf("server") && changes?.from === known.revision && changes.to === state.revision) this.pictures.set(address, changed(before, changes.picture));
        this.refresh();
      }
      known = state;
    };
    for (const each of ["state", "age"]) events.addEventListener(each, told);
    events.onerror = () => this.connected(false) ?? this.say("server", events.readyState === EventSource.CLOSED
      ? "The server was started anew and this page is not of it: open the URL that topospread printed."
      : "The server does not answer: what is shown stays as it was.");
  }

  // Without a server nothing can be tried, and what is shown is pale.
  connected(is) {
    document.body.classList.toggle("apart", !is);
    by("trial").inert = !is;
  }
}

const page = new MapPage();
const follow = () => isRecorded || page.follow();
page.refresh().then(follow, follow);
