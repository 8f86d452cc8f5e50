// What Go has played, in the form in which the page and the exported file get it.

import type { Value } from "./yaml.ts";

export type State = "ready" | "waiting" | "failing" | "gone";

export type KubeObject = { [key: string]: Value };

export interface Version {
  step: number;
  owner: number;
  state: State;
  deleting?: boolean;
  progress?: string;
  object?: KubeObject;
}

export interface Item {
  id: string;
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  role: "parent" | "child" | "below" | "other";
  versions: Version[];
}

export interface Change {
  path: string;
  before: string;
  after: string;
}

export interface RunEvent {
  verb: string;
  object?: number;
  by?: string;
  detail?: string;
  changes?: Change[];
}

export interface Step {
  seconds: number;
  lines: string[];
  events: RunEvent[];
}

export interface Problem {
  file?: number;
  line?: number;
  action?: number;
  field?: string;
  message: string;
  severity: "error" | "warning";
}

export interface Outcome {
  object: number;
  ready: string;
  reason: string;
  message: string;
  failure: string;
  calls: number;
  children: number;
}

export interface Run {
  error: string;
  transcript: string;
  problems: Problem[];
  outcomes: Outcome[];
  begins: string; // in the time of the cluster
  steps: Step[];
  objects: Item[];
  /** command plays the same, once the files of unsaved have the texts of the page. */
  command?: string;
  unsaved?: string[];
}

export interface SourceFile {
  name: string;
  text: string;
}

export interface PlannedAction {
  at?: number;
  action: string;
}

export interface Scenario {
  apply?: string;
  files: SourceFile[];
  actions?: PlannedAction[];
}

export const noRun: Run = { error: "", transcript: "", problems: [], outcomes: [], begins: "", steps: [], objects: [] };

/** filled returns a run as it was sent, with the lists that were left out for having nothing. */
export function filled(sent: Partial<Run>): Run {
  const run = { ...noRun, ...sent };
  return { ...run, steps: run.steps.map((step) => ({ ...step, lines: step.lines ?? [], events: step.events ?? [] })) };
}

/** versionAt returns the version that holds after a step, or undefined before the first. */
export function versionAt(item: Item, step: number): Version | undefined {
  const { versions } = item;
  let low = 0;
  let high = versions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (versions[middle]!.step <= step) low = middle + 1;
    else high = middle;
  }
  return versions[low - 1];
}

/** before returns the version that held before another one. */
export function before(item: Item, version: Version): Version | undefined {
  return item.versions[item.versions.indexOf(version) - 1];
}

/** Look is how a state is shown: by a shape of this name, and in words. */
export type Look = State | "absent" | "deleting";

export function lookOf(version: Version | undefined): Look {
  if (!version) return "absent";
  return version.deleting && version.state !== "gone" ? "deleting" : version.state;
}

const words: Record<Look, string> = {
  absent: "not yet created",
  deleting: "being deleted",
  failing: "failing",
  gone: "deleted",
  ready: "ready",
  waiting: "waiting",
};

/** wordsFor says in what state an object is. */
export function wordsFor(version: Version | undefined): string {
  const look = lookOf(version);
  return (look === "ready" || look === "waiting" || look === "failing") && version?.progress ? version.progress : words[look];
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** conditionsOf returns the conditions of an object. */
export function conditionsOf(version: Version | undefined): Condition[] {
  const status = version?.object?.["status"] as { conditions?: Condition[] } | undefined;
  return Array.isArray(status?.conditions) ? status.conditions : [];
}

/** clock prints a time since the first step, as in 4s, 3m20s. */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  const parts = [hours ? `${hours}h` : "", minutes ? `${minutes}m` : "", rest ? `${rest}s` : ""];
  return parts.join("") || "0s";
}

const verbs: Record<string, string> = { reported: "status changed", deleting: "deletion begun", struck: "fault", failed: "sync failed" };

/** verbOf says what happened, in words. */
export const verbOf = (event: RunEvent) => verbs[event.verb] ?? event.verb;

/** byWhom says who did it, in words that follow what happened. */
export const byWhom = (event: RunEvent) => (event.by ? ` by ${event.by}` : "");
