// What the editor uses of CodeMirror 6; build.sh makes codemirror.js of it.
export { basicSetup } from "codemirror";
export { EditorView, keymap } from "@codemirror/view";
export { EditorState } from "@codemirror/state";
export { yaml } from "@codemirror/lang-yaml";
export { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
export { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
export { tags } from "@lezer/highlight";
