import type { ComponentChildren } from "preact";

import type { Run } from "./run.ts";
import { Shape } from "./shape.tsx";

/** outcomesOf says how a run ended, one line for each custom resource. */
export function outcomesOf(run: Run): { isGood: boolean; text: string }[] {
  const list = run.outcomes.map((outcome) => {
    const id = run.objects[outcome.object]?.id ?? "";
    if (outcome.failure) return { isGood: false, text: `${id}: ${outcome.failure}` };
    const state = outcome.ready === "True" ? "Ready" : "not Ready";
    const why = [outcome.reason, outcome.message].filter((text) => text && text !== state);
    return { isGood: outcome.ready === "True", text: [`${id} is ${state}`, ...why].join(": ") };
  });
  if (run.error && list.every((each) => each.isGood)) list.push({ isGood: false, text: run.error });
  return list;
}

export function Outcomes({ run, step, children }: { run: Run; step: number; children?: ComponentChildren }) {
  const when = step < run.steps.length ? "In the end, " : "";
  const outcomes = outcomesOf(run);
  const mayScroll = outcomes.length > 2 || outcomes.some((each) => each.text.length > 200); // keys have to reach it
  return (
    <ul class="outcomes" aria-label="Outcomes" tabIndex={mayScroll ? 0 : undefined}>
      {outcomes.map((each) => (
        <li class={each.isGood ? "good" : "bad"}>
          <svg width="16" height="16" viewBox="-10 -10 20 20" aria-hidden="true">
            <Shape look={each.isGood ? "ready" : "failing"} x={0} y={0} />
          </svg>
          <span>{when + each.text}</span>
        </li>
      ))}
      {children}
    </ul>
  );
}
