// The YAML editor: CodeMirror with completion and problems from the schemas. Tab leaves it, as it leaves
// every other field; Mod-] and Mod-[ indent.

import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";

import { completionsFor, type Kind } from "./complete.ts";
import type { Problem } from "./run.ts";

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--key)" },
  { tag: [tags.string, tags.special(tags.string), tags.content], color: "var(--text)" },
  { tag: tags.comment, color: "var(--muted)" },
  { tag: [tags.separator, tags.punctuation, tags.meta], color: "var(--muted)" },
]);

interface Props {
  label: string;
  text: string;
  kinds: () => Kind[];
  problems: Problem[];
  nonce: string;
  onChange: (text: string) => void;
  /** goto is a line to go to, each time it is another object. */
  goto?: { line: number } | undefined;
}

function stateOf(props: Props, changed: (text: string) => void): EditorState {
  return EditorState.create({
    doc: props.text,
    extensions: [
      EditorView.cspNonce.of(props.nonce),
      EditorView.contentAttributes.of({ "aria-label": props.label, tabindex: "0", spellcheck: "false", autocapitalize: "off" }),
      lineNumbers(),
      history(),
      yaml(),
      syntaxHighlighting(colours),
      autocompletion({ override: [(context) => completionsFor(props.kinds())(context)], icons: false }),
      keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
    ],
  });
}

export function Editor(props: Props) {
  const home = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const state = stateOf(props, (text) => latest.current.onChange(text));
    const editor = new EditorView({ state, parent: home.current! });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current!;
    const diagnostics = props.problems
      .filter((problem) => problem.line !== undefined && problem.line <= editor.state.doc.lines)
      .map(({ line = 1, field, message, severity }) => {
        const at = editor.state.doc.line(Math.max(1, line));
        return { from: at.from + Math.max(0, at.text.search(/\S/)), to: at.to, severity, message: field ? `${field}: ${message}` : message };
      });
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }, [props.problems]);
  useEffect(() => {
    const editor = view.current!;
    if (!props.goto) return;
    const at = editor.state.doc.line(Math.min(props.goto.line, editor.state.doc.lines));
    editor.dispatch({ selection: { anchor: at.to }, scrollIntoView: true });
    editor.focus();
  }, [props.goto]);
  return <div class="editor" ref={home} />;
}
