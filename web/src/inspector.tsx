// The chosen object at the shown step: its YAML with the lines that the step changed, and its history.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { diff, type Line } from "./diff.ts";
import { before, byWhom, clock, conditionsOf, lookOf, verbOf, versionAt, wordsFor, type Item, type KubeObject, type Run, type Version } from "./run.ts";
import { Shape } from "./shape.tsx";
import { Tabs } from "./tabs.tsx";
import { toLines } from "./yaml.ts";

interface Props {
  run: Run;
  step: number;
  chosen: number;
  onStep: (step: number) => void;
  /** isOpen is set on a small screen, where the object lies over the rest, once somebody has chosen it. */
  isOpen: boolean;
  onClose: () => void;
  children?: ComponentChildren;
}

/** printed leaves out what only the API server has a use for: it would change in each step. */
function printed(version: Version | undefined): string[] {
  if (!version?.object) return [];
  const { resourceVersion: _, uid: __, ...metadata } = (version.object["metadata"] ?? {}) as KubeObject;
  return toLines({ ...version.object, metadata });
}

function linesAt(item: Item, step: number): Line[] {
  const version = versionAt(item, step);
  if (!version) return [];
  const previous = version.step === step ? before(item, version) : undefined;
  return previous?.object ? diff(printed(previous), printed(version)) : printed(version).map((text) => ({ mark: " ", text }));
}

function Yaml({ item, step }: { item: Item; step: number }) {
  const version = versionAt(item, step);
  const lines = useMemo(() => linesAt(item, step), [item, version, version?.step === step]);
  const text = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    const changed = text.current?.querySelector<HTMLElement>(".added, .removed");
    const panel = text.current?.closest(".panel");
    if (changed && panel) panel.scrollTop += changed.getBoundingClientRect().top - panel.getBoundingClientRect().top - panel.clientHeight / 3;
  }, [lines]);
  if (lines.length === 0) return <p class="empty">{item.id} does not exist at this step.</p>;
  return (
    <pre class="yaml" ref={text}>
      {lines.map((line) => (
        <div class={line.mark === "+" ? "added" : line.mark === "-" ? "removed" : ""}>
          <span class="sign">{line.mark}</span>
          {line.text}
        </div>
      ))}
    </pre>
  );
}

/** sinceOf is a time of the cluster as the slider has it. */
function sinceOf(run: Run, time: string | undefined): string {
  return time ? clock(Math.max(0, Date.parse(time) - Date.parse(run.begins)) / 1000) : "";
}

/** Conditions is the table of them: what somebody on call reads first. */
function Conditions({ run, item, step }: { run: Run; item: Item; step: number }) {
  const version = versionAt(item, step);
  const list = conditionsOf(version);
  if (list.length === 0) return null;
  const former = version?.step === step ? conditionsOf(before(item, version)) : list;
  return (
    <div class="conditions" role="region" tabIndex={0} aria-label={`Conditions of ${item.id}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Type</th>
            <th scope="col">Status</th>
            <th scope="col">Reason</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        {list.map(({ type, status, reason, message, lastTransitionTime }) => {
          const old = former.find((each) => each.type === type);
          const isNew = old?.status !== status || old?.reason !== reason || old?.message !== message;
          return (
            <tbody class={isNew ? "added" : ""}>
              <tr>
                <th scope="row">{type}</th>
                <td class={`is-${status}`}>{status}</td>
                <td>{reason}</td>
                <td title={lastTransitionTime}>{sinceOf(run, lastTransitionTime)}</td>
              </tr>
              {message && (
                <tr>
                  <td class="message" colSpan={4}>
                    {message}
                  </td>
                </tr>
              )}
            </tbody>
          );
        })}
      </table>
    </div>
  );
}

function History({ run, step, chosen, onStep }: Pick<Props, "run" | "step" | "chosen" | "onStep">) {
  const steps = useMemo(
    () => run.steps.map((each, index) => ({ number: index + 1, seconds: each.seconds, events: each.events.filter((e) => e.object === chosen) })).filter((s) => s.events.length > 0),
    [run, chosen],
  );
  return (
    <ol class="history">
      {steps.map((each) => (
        <li aria-current={each.number === step ? "step" : undefined}>
          <button type="button" class="time" onClick={() => onStep(each.number)} aria-label={`Step ${each.number}, ${clock(each.seconds)}`}>
            {clock(each.seconds)}
          </button>
          <div>
            {each.events.map((event) => (
              <>
                <div class="what">
                  {verbOf(event)}
                  {byWhom(event)}
                  {event.detail ? `: ${event.detail}` : ""}
                </div>
                {event.changes?.map((change) => (
                  <div class="change">
                    <span class="path">{change.path}</span> <del>{change.before}</del> <span aria-hidden="true">→</span> <ins>{change.after}</ins>
                  </div>
                ))}
              </>
            ))}
          </div>
        </li>
      ))}
    </ol>
  );
}

export function Inspector(props: Props) {
  const { run, step, chosen, isOpen, onClose, children } = props;
  const item = run.objects[chosen];
  if (!item) {
    return (
      <section class="inspector" aria-label="Object">
        <p class="empty">Choose an object to see its YAML, and to break it.</p>
      </section>
    );
  }
  const version = versionAt(item, step);
  return (
    <section class={`inspector${isOpen ? " open" : ""}`} aria-label={`Object ${item.id}`}>
      <header>
        <svg width="20" height="20" viewBox="-10 -10 20 20" aria-hidden="true">
          <Shape look={lookOf(version)} x={0} y={0} />
        </svg>
        <h2>{item.id}</h2>
        <span class="state">{wordsFor(version)}</span>
        <button type="button" class="close" aria-label="Close the object" onClick={onClose}>
          ×
        </button>
      </header>
      <Conditions run={run} item={item} step={step} />
      {children}
      <Tabs
        label={item.id}
        tabs={[
          { name: "YAML", content: () => <Yaml item={item} step={step} /> },
          { name: "Changes", content: () => <History {...props} /> },
        ]}
      />
    </section>
  );
}
