// The run as lanes: one for each condition of the custom resources, and one for each object. What they
// show stands in the list of events and in the graph, too, which is why they are one picture to a
// screen reader.

import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { clock, conditionsOf, lookOf, wordsFor, type Item, type Run } from "./run.ts";
import { useSize } from "./size.ts";

const height = 20;
const thumb = 16; // the width of the slider's, whose middle stands over the step
const tail = 36; // what the last step takes, right of the slider

interface Bar {
  from: number;
  to: number;
  look: string;
  words: string;
}

interface Lane {
  object: number;
  label: string;
  isCondition: boolean;
  bars: Bar[];
  marks: { step: number; sign: string }[];
}

/** joined returns bars, of which neighbours that look the same are one. */
function joined(bars: Bar[]): Bar[] {
  const list: Bar[] = [];
  for (const bar of bars) {
    const last = list.at(-1);
    if (last && last.look === bar.look && last.words === bar.words && last.to === bar.from) last.to = bar.to;
    else list.push({ ...bar });
  }
  return list;
}

function barsOf(item: Item, end: number, look: (index: number) => { look: string; words: string } | undefined): Bar[] {
  return joined(
    item.versions.flatMap((version, index) => {
      const how = look(index);
      const to = item.versions[index + 1]?.step ?? end + 1;
      return how ? [{ from: version.step, to, ...how }] : [];
    }),
  );
}

function conditionLanes(item: Item, object: number, end: number): Lane[] {
  const types = [...new Set(item.versions.flatMap((version) => conditionsOf(version).map((c) => c.type)))];
  return types.map((type) => ({
    object,
    label: type,
    isCondition: true,
    marks: [],
    bars: barsOf(item, end, (index) => {
      const condition = conditionsOf(item.versions[index]).find((c) => c.type === type);
      const look = condition?.status === "True" ? (type === "Ready" ? "ready" : "is-true") : "is-false";
      return condition && { look, words: `${type}=${condition.status} ${condition.reason ?? ""}`.trim() };
    }),
  }));
}

const signs: Record<string, string> = { created: "+", deleting: "−", deleted: "−", failed: "!", struck: "!" };

/** lanesOf returns the lanes of a run. */
export function lanesOf(run: Run): Lane[] {
  const marks = run.objects.map((): Lane["marks"] => []);
  run.steps.forEach((step, index) =>
    step.events.forEach((event) => {
      const sign = signs[event.verb];
      if (sign && event.object !== undefined) marks[event.object]?.push({ step: index + 1, sign });
    }),
  );
  return run.objects.flatMap((item, object) => {
    const end = run.steps.length;
    const bars = barsOf(item, end, (index) => {
      const version = item.versions[index];
      const look = lookOf(version);
      return look === "gone" ? undefined : { look, words: wordsFor(version) };
    });
    const own: Lane = { object, label: item.id, isCondition: false, bars, marks: marks[object]! };
    return item.role === "parent" ? [own, ...conditionLanes(item, object, end)] : [own];
  });
}

/** xOf returns where a step begins: below the slider's thumb. */
function xOf(step: number, steps: number, width: number): number {
  return thumb / 2 + (steps > 1 ? ((step - 1) / (steps - 1)) * (width - thumb - tail) : 0);
}

const most = 120; // lanes that are drawn at once

/** useWindow returns the first of the lanes that are drawn: those that are seen, and some around them. */
function useWindow(ref: RefObject<HTMLElement | null>): number {
  const [from, setFrom] = useState(0);
  useEffect(() => {
    const panel = ref.current?.closest(".panel");
    if (!panel) return;
    const scrolled = () => setFrom(Math.max(0, Math.floor(panel.scrollTop / height / 30) * 30 - 30));
    panel.addEventListener("scroll", scrolled);
    return () => panel.removeEventListener("scroll", scrolled);
  }, []);
  return from;
}

interface Props {
  run: Run;
  step: number;
  chosen: number;
  onStep: (step: number) => void;
  onChoose: (object: number) => void;
}

export function Lanes({ run, step, chosen, onStep, onChoose }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  const { width } = useSize(ref);
  const lanes = useMemo(() => lanesOf(run), [run]);
  const steps = run.steps.length;
  const from = useWindow(ref);
  const axis = useMemo(() => <Axis {...{ run, width }} />, [run, width]);
  const picture = useMemo(() => <Picture {...{ lanes, from, steps, width, chosen }} />, [lanes, from, steps, width, chosen]);
  const labels = useMemo(() => <Labels {...{ lanes, from, chosen, onChoose }} />, [lanes, from, chosen, onChoose]);
  const click = (event: MouseEvent) => {
    const bounds = ref.current?.querySelector(".tracks")?.getBoundingClientRect();
    if (!bounds) return;
    const lane = lanes[Math.floor((event.clientY - bounds.top) / height)];
    if (lane && event.clientY >= bounds.top) onChoose(lane.object);
    onStep(Math.max(1, Math.min(steps, Math.round(((event.clientX - bounds.left - thumb / 2) / (width - thumb - tail)) * (steps - 1)) + 1)));
  };
  return (
    <div class="lanes">
      {labels}
      <div ref={ref} class="track" onClick={click}>
        {axis}
        {picture}
        <svg class="cursor" width={width} height={(lanes.length + 1) * height} aria-hidden="true">
          <line x1={xOf(step, steps, width)} x2={xOf(step, steps, width)} y1={0} y2={(lanes.length + 1) * height} />
        </svg>
      </div>
    </div>
  );
}

const between = 52; // pixels from one tick to the next, at least

/** ticksOf returns the steps that have a tick: the first of each time, where there is room for it. */
function ticksOf(run: Run, width: number): number[] {
  const ticks: number[] = [];
  let [at, time] = [-Infinity, ""];
  run.steps.forEach(({ seconds }, index) => {
    const x = xOf(index + 1, run.steps.length, width);
    if (clock(seconds) === time || x - at < between) return;
    ticks.push(index + 1);
    [at, time] = [x, clock(seconds)];
  });
  return ticks;
}

/** Axis has the times of the steps, which are equally far from each other: most of a run is waiting. */
function Axis({ run, width }: { run: Run; width: number }) {
  return (
    <svg class="axis" width={width} height={height} aria-hidden="true">
      {ticksOf(run, width).map((step) => {
        const x = xOf(step, run.steps.length, width);
        return (
          <g>
            <line x1={x} x2={x} y1={height - 5} y2={height} />
            <text x={x} y={12} text-anchor={x < 20 ? "start" : "middle"} dx={x < 20 ? -7 : 0}>
              {clock(run.steps[step - 1]!.seconds)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

const tailLength = 11; // characters of a name that are never cut: they tell a Pod from its siblings

function Labels({ lanes, from, chosen, onChoose }: { lanes: Lane[]; from: number; chosen: number; onChoose: Props["onChoose"] }) {
  return (
    <ul class="labels" aria-hidden="true">
      <li class="axis">time</li>
      {from > 0 && <li style={{ height: from * height }} />}
      {lanes.slice(from, from + most).map((lane) => (
        <li
          class={`${lane.isCondition ? "condition" : ""}${lane.object === chosen ? " chosen" : ""}`}
          title={lane.label}
          onClick={() => onChoose(lane.object)}
        >
          <span class="head">{lane.label.slice(0, -tailLength)}</span>
          <span class="tail">{lane.label.slice(-tailLength)}</span>
        </li>
      ))}
    </ul>
  );
}

function Picture({ lanes, from, steps, width, chosen }: { lanes: Lane[]; from: number; steps: number; width: number; chosen: number }) {
  const isWide = steps < 2 || (width - thumb - tail) / (steps - 1) >= 9;
  return (
    <svg class="tracks" role="img" aria-label="Lanes of the run; the list of events has the same in words" width={width} height={lanes.length * height}>
      {lanes.slice(from, from + most).map((lane, row) => (
        <g class={`lane${lane.object === chosen ? " chosen" : ""}`} transform={`translate(0 ${(from + row) * height})`}>
          <rect class="row" width={width} height={height} />
          {lane.bars.map((bar) => {
            const x = xOf(bar.from, steps, width);
            const end = bar.to > steps ? width : xOf(bar.to, steps, width);
            const top = bar.look === "ready" || bar.look === "is-true" || bar.look === "failing" ? 5 : 9;
            return (
              <rect class={`bar ${bar.look}`} x={x} y={top} width={Math.max(2, end - x)} height={height - 2 * top}>
                <title>{bar.words}</title>
              </rect>
            );
          })}
          {isWide &&
            lane.marks.map((mark) => (
              <text class={`mark ${mark.sign === "!" ? "bad" : ""}`} x={xOf(mark.step, steps, width)} y={14}>
                {mark.sign}
              </text>
            ))}
        </g>
      ))}
    </svg>
  );
}
