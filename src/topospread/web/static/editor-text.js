// The editor itself: CodeMirror for YAML, in a shadow root, where its styles need no exception from the page's policy.

import { EditorState, EditorView, HighlightStyle, basicSetup, keymap, lintGutter, lintKeymap, setDiagnostics, syntaxHighlighting, tags, yaml } from "./vendor/codemirror/codemirror.js";

const SEVERITY = { error: "error", warning: "warning", hint: "info" };

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
  { tag: [tags.string, tags.content, tags.literal], color: "var(--code-text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.keyword], color: "var(--code-value)" },
  { tag: [tags.lineComment, tags.comment], color: "var(--code-comment)" },
  { tag: [tags.separator, tags.punctuation, tags.meta, tags.squareBracket, tags.brace], color: "var(--code-mark)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--code-text)", backgroundColor: "var(--code-ground)", fontSize: "0.875rem" },
  ".cm-scroller": { fontFamily: "ui-monospace, 'DejaVu Sans Mono', monospace", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--code-text)" },
  "&.cm-focused": { outline: "2px solid var(--code-focus)", outlineOffset: "-2px" },
  ".cm-cursor": { borderLeftColor: "var(--code-text)" },
  ".cm-gutters": { backgroundColor: "var(--code-ground)", color: "var(--code-comment)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code-line)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection": { backgroundColor: "var(--code-chosen) !important" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--code-line)", color: "var(--code-text)" },
  ".cm-diagnostic": { whiteSpace: "pre-wrap", maxWidth: "40rem" },
  ".cm-matchingBracket": { backgroundColor: "var(--code-chosen) !important" },
});

/** An editor in `host` that calls `changed` whenever its text does. */
export function manifestEditor(host, changed) {
  const root = host.attachShadow({ mode: "open" });
  const place = document.createElement("div");
  place.style.height = "100%";
  root.append(place);
  const view = new EditorView({
    parent: place,
    root,
    state: EditorState.create({
      doc: "",
      extensions: [
        basicSetup, yaml(), keymap.of(lintKeymap), lintGutter(), syntaxHighlighting(colours), look, EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Manifest, YAML", spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((update) => update.docChanged && changed()),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    mark: (found) => view.dispatch(setDiagnostics(view.state, marks(view.state.doc, found))),
    goTo(line, column) {
      const { from } = span(view.state.doc, line, column);
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
  };
}

function marks(doc, found) {
  return found
    .filter((each) => each.line !== null && each.line <= doc.lines)
    .map((each) => ({ ...span(doc, each.line, each.column), severity: SEVERITY[each.severity], source: each.rule || undefined, message: each.message }))
    .sort((one, other) => one.from - other.from);
}

/** From a place to the end of what stands on its line; columns count bytes of UTF-8, from 1. */
function span(doc, number, column) {
  const line = doc.line(Math.min(Math.max(number, 1), doc.lines));
  const before = new TextEncoder().encode(line.text).slice(0, (column ?? 1) - 1);
  const from = line.from + Math.min(new TextDecoder().decode(before).length, line.length);
  const to = line.from + line.text.trimEnd().length;
  return { from, to: Math.max(from, to) };
}
