// What may be written at a place of a YAML stream, by the schemas of the custom resources.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Text } from "@codemirror/state";

import { Outline, type Path } from "./outline.ts";

export interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  enum?: unknown[];
  default?: unknown;
  "x-kubernetes-int-or-string"?: boolean;
}

export interface Kind {
  apiVersion: string;
  kind: string;
  schema: Schema;
}

const text = (description: string): Schema => ({ type: "string", description });
const map = (description: string): Schema => ({ type: "object", description, additionalProperties: { type: "string" } });

const metadata: Record<string, Schema> = {
  name: text("The name, unique among the objects of this kind in the namespace."),
  namespace: text("The namespace; the default is called default."),
  labels: map("What selectors find it by."),
  annotations: map("Anything else that is to be known of it."),
  finalizers: { type: "array", items: { type: "string" }, description: "Who has to agree before it is gone." },
};

/** at returns the schema of a path. */
export function at(schema: Schema | undefined, path: Path): Schema | undefined {
  let now = schema;
  for (const [index, step] of path.entries()) {
    if (!now) return undefined;
    if (typeof step === "number") now = now.items;
    else if (index === 1 && path[0] === "metadata") now = metadata[step];
    else now = now.properties?.[step] ?? (typeof now.additionalProperties === "object" ? now.additionalProperties : undefined);
  }
  return path.length === 1 && path[0] === "metadata" ? { ...now, type: "object", properties: metadata } : now;
}

/** identity returns the kind that the document around a line says it has. */
function identity(doc: Text, number: number): { apiVersion: string; kind: string } {
  const found = { apiVersion: "", kind: "" };
  const read = (line: string) => {
    const match = /^(apiVersion|kind):\s*["']?([^\s"'#]+)/.exec(line);
    if (match) found[match[1] as "apiVersion" | "kind"] = match[2]!;
    return !/^---(\s|$)/.test(line);
  };
  for (let n = number; n >= 1 && read(doc.line(n).text); n--);
  for (let n = number + 1; n <= doc.lines && read(doc.line(n).text); n++);
  return found;
}

const typeOf = (schema: Schema) => (schema["x-kubernetes-int-or-string"] ? "integer or string" : (schema.type ?? ""));

function keyOption(name: string, schema: Schema, indent: string, prefix = ""): Completion {
  const inner = indent + " ".repeat(prefix.length);
  const tail =
    schema.type === "array" ? `\n${inner}- ` : schema.type === "object" || schema.properties ? `\n${inner}  ` : " ";
  const info = schema.description ? { info: schema.description } : {};
  return { label: name, apply: `${prefix}${name}:${tail}`, type: "property", detail: typeOf(schema), ...info };
}

function keys(schema: Schema | undefined, indent: string): Completion[] {
  const list = schema?.type === "array" && schema.items?.properties ? schema.items : undefined;
  const fields = (list ?? schema)?.properties ?? {};
  return Object.keys(fields).map((name) => keyOption(name, fields[name]!, indent, list ? "- " : ""));
}

function values(schema: Schema | undefined): Completion[] {
  const options = schema?.enum ?? (schema?.type === "boolean" ? [true, false] : []);
  const all = schema?.default !== undefined && typeof schema.default !== "object" ? [schema.default, ...options] : options;
  return [...new Set(all.map(String))].map((label) => ({
    label,
    type: "constant",
    ...(label === String(schema?.default) ? { detail: "default" } : {}),
  }));
}

const heads: Schema = {
  type: "object",
  properties: {
    apiVersion: text("The group and version of the kind."),
    kind: text("The kind."),
    metadata: { type: "object", description: "Name, namespace, labels and annotations." },
    spec: { type: "object", description: "What is wanted." },
  },
};

/** completionsFor returns the source of completions for some kinds. */
export function completionsFor(kinds: Kind[]): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const { doc } = context.state;
    const line = doc.lineAt(context.pos);
    const head = line.text.slice(0, context.pos - line.from);
    const parts = /^(\s*)((?:-\s+)*)(?:([\w.\/$-]+):\s+)?(["']?)([\w.\/$-]*)$/.exec(head);
    if (!parts) return null;
    const [, indent = "", dashes = "", key, , typed = ""] = parts;
    const outline = new Outline();
    for (let n = 1; n < line.number; n++) outline.add(doc.line(n).text);
    if (outline.inScalar(indent.length)) return null;
    if (dashes) outline.add(indent + dashes.trimEnd());
    const column = indent.length + dashes.length;
    const parent = outline.parent(column);
    const said = identity(doc, line.number);
    const schema = kinds.find((k) => k.kind === said.kind && (!said.apiVersion || k.apiVersion === said.apiVersion))?.schema;
    const whole = schema ? { ...schema, properties: { ...heads.properties, ...schema.properties } } : heads;
    const options = key ? valuesOf(kinds, said, whole, [...parent, key]) : keys(at(whole, parent), " ".repeat(column));
    if (options.length === 0 || (!context.explicit && !typed && !key)) return null;
    return { from: context.pos - typed.length, options, validFor: /^[\w.\/$-]*$/ };
  };
}

function valuesOf(kinds: Kind[], said: { apiVersion: string; kind: string }, schema: Schema, path: Path): Completion[] {
  if (path.length === 1 && path[0] === "kind") {
    return kinds.filter((k) => !said.apiVersion || k.apiVersion === said.apiVersion).map((k) => ({ label: k.kind, type: "class" }));
  }
  if (path.length === 1 && path[0] === "apiVersion") {
    const fitting = kinds.filter((k) => !said.kind || k.kind === said.kind);
    return [...new Set(fitting.map((k) => k.apiVersion))].map((label) => ({ label, type: "namespace" }));
  }
  return values(at(schema, path));
}
