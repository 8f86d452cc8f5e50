// What a Kubernetes object looks like as YAML: keys in alphabetical order, as kubectl prints them.

export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

const plain = /^[A-Za-z/_][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*$/;
const special = /^(?:true|false|yes|no|on|off|null|y|n|~)$/i;

function scalar(value: null | boolean | number | string): string {
  if (typeof value !== "string") return String(value);
  return plain.test(value) && !special.test(value) ? value : JSON.stringify(value);
}

const isEmpty = (value: Value) => value === null || typeof value !== "object" || Object.keys(value).length === 0;

function inline(value: Value): string {
  if (Array.isArray(value)) return "[]";
  return value !== null && typeof value === "object" ? "{}" : scalar(value);
}

function block(text: string, indent: string): string[] {
  const keep = text.endsWith("\n\n") ? "+" : text.endsWith("\n") ? "" : "-";
  const lines = text.replace(/\n$/, "").split("\n");
  return ["|" + keep, ...lines.map((line) => (line ? indent + line : ""))];
}

const isBlock = (value: Value): value is string =>
  typeof value === "string" && /^[^\s].*\n/.test(value) && !/[\t\r]|[^\P{C}\n]/u.test(value);

function field(key: string, value: Value, indent: string): string[] {
  const name = scalar(key) + ":";
  if (isBlock(value)) {
    const [head, ...rest] = block(value, indent + "  ");
    return [`${indent}${name} ${head}`, ...rest];
  }
  if (isEmpty(value)) return [`${indent}${name} ${inline(value)}`];
  return [indent + name, ...lines(value, Array.isArray(value) ? indent : indent + "  ")];
}

function item(value: Value, indent: string): string[] {
  if (isEmpty(value)) return [`${indent}- ${inline(value)}`];
  const [first = "", ...rest] = lines(value, indent + "  ");
  return [`${indent}- ${first.slice(indent.length + 2)}`, ...rest];
}

function lines(value: Value, indent: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => item(each, indent));
  const fields = value as { [key: string]: Value };
  return Object.keys(fields)
    .sort()
    .flatMap((key) => field(key, fields[key] ?? null, indent));
}

/** toLines returns a value as lines of YAML. */
export function toLines(value: Value): string[] {
  return isEmpty(value) ? [inline(value)] : lines(value, "");
}
