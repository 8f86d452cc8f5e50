// One field of an object changed, as a merge patch.

import type { KubeObject } from "./run.ts";
import type { Value } from "./yaml.ts";

type Path = (string | number)[];

/** parsePath reads spec.template.containers[0].image; labels["a.b/c"] has a key with dots. */
export function parsePath(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|\["([^"]*)"\]|([^.[\]]+)/g)].map((m) => (m[1] === undefined ? (m[2] ?? m[3]!) : Number(m[1])));
}

/** parseValue reads what was typed: JSON if it is that, or else text. */
export function parseValue(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return text;
  }
}

/** typed returns what parseValue reads as a value. */
export function typed(value: Value): string {
  return typeof value === "string" && parseValue(value) === value ? value : JSON.stringify(value);
}

function replaced(list: Value, path: Path, value: Value): Value {
  if (path.length === 0) return value;
  const [step, ...rest] = path as [string | number, ...Path];
  if (typeof step === "number") {
    const copy = Array.isArray(list) ? [...list] : [];
    copy[step] = replaced(copy[step] ?? null, rest, value);
    return copy;
  }
  const fields = list !== null && typeof list === "object" && !Array.isArray(list) ? list : {};
  return { ...fields, [step]: replaced(fields[step] ?? null, rest, value) };
}

/** patchFor returns the merge patch that sets a field. A patch replaces lists: it has them whole. */
export function patchFor(object: Value, path: Path, value: Value): Value {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === "number") return replaced(object, path, value);
  const inner = object !== null && typeof object === "object" && !Array.isArray(object) ? (object[step] ?? null) : null;
  return { [step]: patchFor(inner, rest, value) };
}

/** leavesOf returns the paths of the fields that somebody may edit. */
export function leavesOf(object: KubeObject): { path: string; value: Value }[] {
  const leaves: { path: string; value: Value }[] = [];
  const walk = (value: Value, path: string) => {
    if (value === null || typeof value !== "object") {
      leaves.push({ path, value });
    } else if (Array.isArray(value)) {
      value.forEach((each, index) => walk(each, `${path}[${index}]`));
    } else {
      for (const key of Object.keys(value)) walk(value[key] ?? null, /[.[\]]/.test(key) ? `${path}["${key}"]` : path ? `${path}.${key}` : key);
    }
  };
  for (const key of Object.keys(object)) {
    if (!["apiVersion", "kind", "metadata", "status"].includes(key)) walk(object[key] ?? null, key);
  }
  return leaves;
}
