// The slider over a run, and below it what happens: as lanes, or as a list in the order of time.

import { useEffect, useRef, useState } from "preact/hooks";

import { Lanes } from "./lanes.tsx";
import { clock, verbOf, type Run } from "./run.ts";
import { Tabs } from "./tabs.tsx";

interface Props {
  run: Run;
  step: number;
  chosen: number;
  onStep: (step: number) => void;
  onChoose: (object: number) => void;
}

const millisecondsAStep = 450;

/** summary says in one line what a step is about. */
function summary(run: Run, step: number): string {
  const now = run.steps[step - 1];
  const first = now?.lines[0] ?? (now ? below(run, step - 1) : "");
  return first.replace(/\s+/g, " ");
}

export function Timeline(props: Props) {
  const { run, step, onStep } = props;
  const [isPlaying, setPlaying] = useState(false);
  const steps = run.steps.length;
  useEffect(() => {
    if (!isPlaying) return;
    if (step >= steps) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => onStep(step + 1), millisecondsAStep);
    return () => clearTimeout(timer);
  }, [isPlaying, step, steps]);
  const toggle = () => {
    if (!isPlaying && step >= steps) onStep(1);
    setPlaying(!isPlaying);
  };
  const time = clock(run.steps[step - 1]?.seconds ?? 0);
  return (
    <section class="timeline" aria-label="Time">
      <div class="slider">
        <div class="buttons">
          <button type="button" onClick={toggle} disabled={steps < 2} aria-label={isPlaying ? "Pause" : "Play the steps"}>
            {isPlaying ? "❚❚" : "▶"}
          </button>
          <button type="button" onClick={() => onStep(step - 1)} disabled={step <= 1} aria-label="Step back">
            ‹
          </button>
          <button type="button" onClick={() => onStep(step + 1)} disabled={step >= steps} aria-label="Step forward">
            ›
          </button>
        </div>
        <input
          type="range"
          aria-label="Step"
          min={1}
          max={Math.max(1, steps)}
          value={step}
          disabled={steps === 0}
          aria-valuetext={`step ${step} of ${steps}, ${time}: ${summary(run, step)}`}
          onInput={(event) => onStep(Number(event.currentTarget.value))}
        />
      </div>
      <p class="where">
        <b>{steps ? `Step ${step} of ${steps}` : "No steps"}</b> {steps ? time : ""} <span class="summary">{summary(run, step)}</span>
      </p>
      <Tabs
        label="What happened"
        tabs={[
          { name: "Lanes", content: () => <Lanes {...props} /> },
          { name: "Events", content: () => <Events {...props} /> },
        ]}
      />
    </section>
  );
}

const kinds: Record<string, string> = { ">": "user", "+": "plus", "~": "tilde", "-": "minus", "*": "star", "?": "condition", "!": "bad" };

function Events({ run, step, onStep }: Props) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current="step"]')?.scrollIntoView({ block: "nearest" });
  }, [step, run]);
  return (
    <ol class="events" ref={list}>
      {run.steps.map((each, index) => (
        <li class={index + 1 === step ? "now" : ""} aria-current={index + 1 === step ? "step" : undefined}>
          <button type="button" class="time" onClick={() => onStep(index + 1)} aria-label={`Step ${index + 1}, ${clock(each.seconds)}`}>
            {clock(each.seconds)}
          </button>
          <div>
            {each.lines.map((line) => (
              <div class={`line ${kinds[line[0] ?? ""] ?? "more"}`}>{line}</div>
            ))}
            {each.lines.length === 0 && <div class="line more">{below(run, index)}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** below says what happened in a step of which the transcript has no line. */
function below(run: Run, index: number): string {
  const names = run.steps[index]!.events.map((event) => `${run.objects[event.object ?? -1]?.id ?? event.detail ?? ""} ${verbOf(event)}`);
  return names.slice(0, 3).join(", ") + (names.length > 3 ? `, and ${names.length - 3} more` : "");
}
