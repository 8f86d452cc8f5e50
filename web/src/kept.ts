// The text that a tab keeps when it is loaded again. Another tab has its own, and none is kept once it is closed:
// there may be Secrets in it.

import type { Scenario } from "./run.ts";

const key = "operetta play";

/** keep remembers what somebody has made of what the page began with. */
export function keep(start: Scenario, scenario: Scenario): void {
  try {
    sessionStorage.setItem(key, JSON.stringify({ start, scenario }));
  } catch {
    // the browser keeps nothing, or has no room
  }
}

/** keptOf returns that, or nothing if the page began with something else. */
export function keptOf(start: Scenario): Scenario | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null") as { start: Scenario; scenario: Scenario } | null;
    return kept && JSON.stringify(kept.start) === JSON.stringify(start) ? kept.scenario : undefined;
  } catch {
    return undefined;
  }
}
