import assert from "node:assert/strict";
import test from "node:test";

import { diff } from "../src/diff.ts";
import { layoutOf, type Box } from "../src/layout.ts";
import { leavesOf, parsePath, parseValue, patchFor, typed } from "../src/patch.ts";
import { clock, versionAt, type Item } from "../src/run.ts";
import { fragmentOf, scenarioIn } from "../src/share.ts";
import { toLines } from "../src/yaml.ts";

test("YAML is what kubectl prints", () => {
  const object = {
    spec: { b: [{ x: 1, a: "true" }, []], a: null, text: "one\ntwo\n", empty: "", port: "8080", image: "a/b:v1" },
    kind: "Pod",
    metadata: { annotations: { "a.b/c": "say: no" }, labels: {} },
  };
  assert.deepEqual(toLines(object), [
    "kind: Pod",
    "metadata:",
    "  annotations:",
    '    a.b/c: "say: no"',
    "  labels: {}",
    "spec:",
    "  a: null",
    "  b:",
    '  - a: "true"',
    "    x: 1",
    "  - []",
    '  empty: ""',
    "  image: a/b:v1",
    '  port: "8080"',
    "  text: |",
    "    one",
    "    two",
  ]);
});

test("a difference has each line once", () => {
  const marked = (old: string, now: string) => diff(old.split(""), now.split("")).map((line) => line.mark + line.text).join("");
  assert.equal(marked("abcd", "abcd"), " a b c d");
  assert.equal(marked("abcd", "axcd"), " a-b+x c d");
  assert.equal(marked("", "ab"), "+a+b");
  assert.equal(marked("aba", "a"), " a-b-a");
});

test("a patch sets one field, and has lists whole", () => {
  const object = { spec: { size: 3, list: [{ name: "a", v: 1 }, { name: "b" }], "x.y": { z: 1 } } };
  assert.deepEqual(patchFor(object, parsePath("spec.size"), parseValue("5")), { spec: { size: 5 } });
  assert.deepEqual(patchFor(object, parsePath("spec.list[0].v"), parseValue("text")), {
    spec: { list: [{ name: "a", v: "text" }, { name: "b" }] },
  });
  assert.deepEqual(patchFor(object, parsePath("spec.new.field"), null), { spec: { new: { field: null } } });
  const paths = leavesOf(object).map((leaf) => leaf.path);
  assert.deepEqual(paths, ["spec.size", "spec.list[0].name", "spec.list[0].v", "spec.list[1].name", 'spec["x.y"].z']);
  assert.deepEqual(parsePath('spec["x.y"].z'), ["spec", "x.y", "z"]);
});

test("what is typed is read back", () => {
  for (const value of ["34%", "8080", "true", "", 'say "no"', 3, null, ["a"]]) assert.deepEqual(parseValue(typed(value)), value);
  assert.equal(typed("34%"), "34%");
});

test("a link holds a scenario", async () => {
  const scenario = { apply: "server-side-apply", files: [{ name: "ä.yaml", text: "kind: PodSet\n".repeat(200) }], actions: [{ at: 3, action: "fail Pod/a" }] };
  const fragment = await fragmentOf(scenario);
  assert.match(fragment, /^#s=[A-Za-z0-9_-]+$/);
  assert.ok(fragment.length < 300, `${fragment.length} characters`);
  assert.deepEqual(await scenarioIn(fragment), scenario);
  assert.equal(await scenarioIn("#other"), undefined);
  await assert.rejects(scenarioIn(fragment.slice(0, 20)));
});

const item = (id: string, owner: number, ...steps: number[]): Item => {
  const [kind = "", name = ""] = id.split("/");
  return { id, kind, name, apiVersion: "v1", namespace: "default", role: "child", versions: steps.map((step) => ({ step, owner, state: "ready" })) };
};

test("a version holds until the next", () => {
  const pod = item("Pod/a", -1, 2, 5);
  assert.equal(versionAt(pod, 1), undefined);
  assert.equal(versionAt(pod, 4)?.step, 2);
  assert.equal(versionAt(pod, 9)?.step, 5);
});

test("owners stand before what they own, and nothing overlaps", () => {
  for (const [pods, direction] of [[3, "LR"], [3, "TB"], [300, "LR"], [300, "TB"]] as const) {
    const items = [item("PodSet/a", -1, 1), ...Array.from({ length: pods }, (_, index) => item(`Pod/a-${index}`, 0, 2)), item("Service/other", -1, 1)];
    if (pods > 40) assert.equal(layoutOf(items, direction, 700).boxes.filter(Boolean).length, 3, "they are one group at first");
    const { boxes, width, height } = layoutOf(items, direction, 700, { filter: "", toggled: new Set(pods > 40 ? ["group default/PodSet/a Pod"] : []) });
    assert.equal(boxes.filter(Boolean).length, pods + 2);
    assert.equal(layoutOf(items, direction, 700, { filter: "pod/A-1", toggled: new Set() }).boxes[1], undefined, "a filter leaves it out");
    (boxes as Box[]).forEach((a, i) => {
      assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height);
      (boxes as Box[]).slice(i + 1).forEach((b) => assert.ok(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y));
    });
    const [owner, first, second] = boxes as [Box, Box, Box];
    assert.ok(direction === "LR" ? owner.x + owner.width < first.x : owner.y + owner.height < first.y);
    assert.ok(first.x < second.x || first.y < second.y, "they keep their order");
  }
});

test("times are as short as those of Go", () => {
  assert.deepEqual([0, 59, 60, 3661, 7200].map(clock), ["0s", "59s", "1m", "1h1m1s", "2h"]);
});
