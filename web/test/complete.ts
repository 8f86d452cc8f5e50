import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";

import { completionsFor, type Kind, type Schema } from "../src/complete.ts";

const kinds = JSON.parse(readFileSync(process.env["KINDS"]!, "utf8")) as Kind[];
const source = completionsFor(kinds);

/** labels returns what is offered where a text has its |. */
function labels(text: string, explicit = false): string[] {
  const pos = text.indexOf("|");
  const state = EditorState.create({ doc: text.slice(0, pos) + text.slice(pos + 1) });
  return source(new CompletionContext(state, pos, explicit))?.options.map((option) => option.label) ?? [];
}

/** written nests a path as YAML, and ends where its last key begins. */
function written(kind: Kind, path: (string | number)[]): string {
  let text = `apiVersion: ${kind.apiVersion}\nkind: ${kind.kind}\n`;
  let indent = "";
  path.forEach((step, index) => {
    const isLast = index === path.length - 1;
    if (typeof step === "number") {
      text += `${indent}- `;
      indent += "  ";
    } else {
      const start = typeof path[index - 1] === "number" ? "" : indent;
      text += start + (isLast ? `${step[0]}|` : `${step}:\n`);
      if (typeof path[index + 1] === "string") indent += "  ";
    }
  });
  return text + "\n";
}

/** each calls back with the path of each field of a schema. */
function each(schema: Schema, path: (string | number)[], found: (path: (string | number)[]) => void): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    found([...path, name]);
    each(field, [...path, name], found);
  }
  if (schema.items) each(schema.items, [...path, 0], found);
  if (typeof schema.additionalProperties === "object") each(schema.additionalProperties, [...path, "any"], found);
}

test("every field of every kind completes", () => {
  let count = 0;
  const missing: string[] = [];
  for (const kind of kinds) {
    each(kind.schema, [], (path) => {
      count++;
      if (!labels(written(kind, path)).includes(String(path.at(-1)))) missing.push(`${kind.kind} ${path.join(".")}`);
    });
  }
  assert.deepEqual(missing.slice(0, 10), []);
  assert.equal(kinds.length, 6);
  assert.ok(count > 3000, `there are ${count} fields`);
  console.log(`${count} fields complete`);
});

const podSet = kinds.find((kind) => kind.kind === "PodSet")!;
const head = `apiVersion: ${podSet.apiVersion}\nkind: PodSet\n`;

test("kinds and versions are offered", () => {
  assert.equal(labels("kind: |").length, 6);
  assert.deepEqual(labels("apiVersion: |\nkind: PodSet\n"), [podSet.apiVersion]);
  assert.ok(!labels(`apiVersion: ${podSet.apiVersion}\nkind: |\n`).includes("MyJob"));
});

test("the document around the cursor counts", () => {
  const other = kinds.find((kind) => kind.kind === "Build")!;
  const text = `apiVersion: ${other.apiVersion}\nkind: Build\nspec:\n  a: 1\n---\n${head}spec:\n  |\n---\nkind: Build\n`;
  assert.deepEqual(labels(text, true), Object.keys(podSet.schema.properties!["spec"]!.properties!));
});

test("nothing is offered in a block scalar, a comment or after a value", () => {
  assert.deepEqual(labels(`${head}metadata:\n  annotations:\n    note: |+\n      sp`.replace("|+\n      sp", ">\n      sp|")), []);
  assert.deepEqual(labels(`${head}# s|`), []);
  assert.deepEqual(labels(`${head}metadata:\n  name: a b|`), []);
});

test("lists may be indented or not, and may have more items", () => {
  for (const indent of ["", "  "]) {
    const text = `${head}spec:\n  template:\n    spec:\n      containers:\n      ${indent}- name: a\n        ${indent}image: b\n      ${indent}- name: c\n        ${indent}im|`;
    assert.ok(labels(text).includes("imagePullPolicy"), text);
  }
});

test("values that a schema lists are offered", () => {
  const text = `${head}spec:\n  template:\n    spec:\n      hostNetwork: t|`;
  assert.deepEqual(labels(text), ["true", "false"]);
});

test("the fields of a list's items are offered with their dash", () => {
  assert.ok(labels(`${head}spec:\n  template:\n    spec:\n      containers:\n        |`, true).includes("livenessProbe"));
});
