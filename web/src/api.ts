// What the page asks of the program that serves it.

import type { Kind } from "./complete.ts";
import { filled, type Run, type Scenario, type SourceFile } from "./run.ts";

export interface Sample {
  name: string;
  files: SourceFile[];
}

/** ActionKind is something that may be done to custom resources, to Pods and what controls some, to any other object, or to all objects of a kind. */
export interface ActionKind {
  name: string;
  does: string;
  group: string; // who or what does it
  word: string; // what it does, in a word or three
  of: "parent" | "pods" | "object" | "kind";
  kinds?: string[];
  details?: Detail[];
}

/** Detail is a way in which it may be done, with what only Pods and what controls some have, or to objects of some kinds. */
export interface Detail {
  name: string;
  does: string;
  ofPods?: boolean;
  kinds?: string[];
}

export interface Schemas {
  kinds: Kind[];
  actions: ActionKind[];
}

export interface GoldenCase {
  step: number;
  name: string;
  in: string;
  out: string;
}

async function answer(response: Response): Promise<Response> {
  if (!response.ok) throw new Error((await response.text()).trim() || response.statusText);
  return response;
}

async function get<T>(path: string): Promise<T> {
  return (await answer(await fetch(path))).json() as Promise<T>;
}

async function post(path: string, scenario: Scenario, signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify(scenario);
  try {
    return await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body, ...(signal ? { signal } : {}) });
  } catch (error) {
    if (error instanceof TypeError) throw new Error("The program that serves this page does not answer: start it again.");
    throw error;
  }
}

/** start is what the page begins with, and how long a run may take. */
export const start = () => get<{ scenario: Scenario; seconds: number }>("start");
export const samples = () => get<Sample[]>("samples");
export const schemas = () => get<Schemas>("schemas");

let running: AbortController | undefined;

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

/**
 * play plays a scenario. It returns nothing if a later call has taken its place. The program lets the request
 * that reaches it last play: an older one may overtake this one on its way, and another page may be open, so a
 * refused one is sent again.
 */
export async function play(scenario: Scenario): Promise<Run | undefined> {
  running?.abort();
  const mine = (running = new AbortController());
  try {
    let response = await post("run", scenario, mine.signal);
    for (; response.status === 429; response = await post("run", scenario, mine.signal)) await pause(100);
    return filled((await (await answer(response)).json()) as Partial<Run>);
  } catch (error) {
    if (mine.signal.aborted) return undefined;
    throw error;
  }
}

export async function golden(scenario: Scenario): Promise<GoldenCase[]> {
  return ((await (await answer(await post("golden", scenario))).json()) as { cases: GoldenCase[] }).cases;
}

/** text returns a story, or a self-contained HTML file. */
export async function text(form: "story" | "html", scenario: Scenario): Promise<string> {
  return (await answer(await post(form, scenario))).text();
}
