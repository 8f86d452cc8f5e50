// The objects of a run as a graph: its nodes are buttons, walked through with the arrow keys.

import { useMemo, useRef, useState } from "preact/hooks";

import { layoutOf, node, type Box, type Layout } from "./layout.ts";
import { lookOf, versionAt, wordsFor, type Item, type Look, type Run, type Version } from "./run.ts";
import { useSize } from "./size.ts";
import { Shape } from "./shape.tsx";

interface NodeProps {
  item: Item;
  index: number;
  box: Box;
  version: Version | undefined;
  isNew: boolean;
  isChosen: boolean;
  isEntry: boolean;
}

/** shortened keeps the end of a name, from a dash on: it tells a Pod from its siblings. */
function shortened(text: string, most: number): string {
  const tail = text.slice(Math.max(0, text.length - most + 1));
  return text.length > most ? "…" + tail.slice(Math.max(0, tail.indexOf("-"))) : text;
}

/** cut keeps the words at the beginning. What is seen is thus a part of what a screen reader says. */
function cut(text: string, most: number): string {
  return text.length > most ? text.slice(0, text.lastIndexOf(" ", most - 1)).replace(/,$/, "") + "…" : text;
}

/** Node is drawn again only if something of it has changed: there may be hundreds. */
function Node(props: NodeProps) {
  return useMemo(() => drawn(props), Object.values(props));
}

function drawn({ item, index, box, version, isNew, isChosen, isEntry }: NodeProps) {
  const look = lookOf(version);
  const words = wordsFor(version);
  const room = box.width - 38; // pixels
  const middle = box.height / 2;
  const isCell = box.height < node.height; // of a block, which is of one kind
  return (
    <g
      class={`node ${look} ${item.role}${isNew ? " new" : ""}`}
      transform={`translate(${box.x} ${box.y})`}
      role="button"
      tabindex={isEntry ? 0 : -1}
      data-index={index}
      aria-pressed={isChosen}
      aria-label={`${isCell ? `${item.kind} ${item.name}` : `${item.name} ${item.kind}`} ${words}${isNew ? ", changed in this step" : ""}`}
    >
      <rect width={box.width} height={box.height} rx={6} />
      <Shape look={look} x={17} y={middle} />
      <text class="name" x={33} y={middle + (isCell ? -3 : 5)}>
        {shortened(item.name, Math.floor(room / 7.8))}
      </text>{" "}
      {isCell || (
        <text class="kind" x={33} y={17}>
          {item.kind}
        </text>
      )}{" "}
      <text class="words" x={33} y={middle + (isCell ? 12 : 20)}>
        {cut(words, Math.floor(room / 6.2))}
      </text>
      {isNew && <circle class="dot" cx={box.width - 3} cy={3} r={5} />}
    </g>
  );
}

/** nearest returns the box to which an arrow key leads. */
function nearest(layout: Layout, from: number, key: string): number {
  const start = layout.boxes[from]!;
  const [dx, dy] = [key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0, key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0];
  let best = from;
  let least = Infinity;
  layout.boxes.forEach((box, index) => {
    const [x, y] = [box.x + box.width / 2 - start.x - start.width / 2, box.y + box.height / 2 - start.y - start.height / 2];
    const along = x * dx + y * dy;
    const cost = along + 3 * Math.abs(x * dy) + 3 * Math.abs(y * dx);
    if (index !== from && along > 1 && cost < least) [best, least] = [index, cost];
  });
  return best;
}

interface Room {
  width: number;
  height: number;
}

const fit = (layout: Layout, room: Room) => Math.min(1, room.width / layout.width, room.height / layout.height);

/** score prefers what can be read without scrolling, and then what scrolls only down. */
const score = (layout: Layout, room: Room) => Math.max(fit(layout, room), Math.min(scales.readable, room.width / layout.width));

interface Props {
  run: Run;
  step: number;
  chosen: number;
  onChoose: (index: number) => void;
}

const scales = { least: 0.4, most: 2, readable: 0.75 };

const legend: [Look, string][] = [
  ["ready", "ready"],
  ["waiting", "waiting"],
  ["failing", "failing"],
  ["deleting", "deleting"],
  ["gone", "deleted"],
  ["absent", "not yet"],
];

function Legend() {
  return (
    <ul class="legend" aria-label="Shapes">
      {legend.map(([look, words]) => (
        <li>
          <svg width="13" height="13" viewBox="-10 -10 20 20" aria-hidden="true">
            <Shape look={look} x={0} y={0} />
          </svg>
          {words}
        </li>
      ))}
    </ul>
  );
}

export function Graph({ run, step, chosen, onChoose }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const scroll = useRef<HTMLDivElement>(null);
  const room = useSize(scroll);
  const wide = room.width / scales.readable;
  const across = useMemo(() => layoutOf(run.objects, "LR", wide), [run, wide]);
  const down = useMemo(() => layoutOf(run.objects, "TB", wide), [run, wide]);
  const layout = score(down, room) > score(across, room) ? down : across;
  const [zoom, setZoom] = useState(0); // 0 is what fits, as long as it can be read
  const scale = zoom || Math.max(scales.readable, fit(layout, room));
  const entry = chosen >= 0 ? chosen : 0;

  const indexOf = (target: EventTarget | null) => Number((target as Element | null)?.closest("[data-index]")?.getAttribute("data-index") ?? -1);
  const move = (event: KeyboardEvent) => {
    const from = indexOf(event.target);
    if (from < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onChoose(from);
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      const to = svg.current?.querySelector<SVGGElement>(`[data-index="${nearest(layout, from, event.key)}"]`);
      to?.focus();
      to?.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  };
  const change = (factor: number) => setZoom(Math.max(scales.least, Math.min(scales.most, scale * factor)));
  return (
    <section class="graph" aria-label="Objects">
      <div class="strip">
        <Legend />
        <div class="zoom">
          <button type="button" aria-label="Smaller" onClick={() => change(1 / 1.25)} disabled={scale <= scales.least}>
            −
          </button>
          <button type="button" aria-label="Larger" onClick={() => change(1.25)} disabled={scale >= scales.most}>
            +
          </button>
          <button type="button" onClick={() => setZoom(0)} disabled={!zoom}>
            Fit
          </button>
        </div>
      </div>
      <div class="scroll" ref={scroll}>
        <svg
          ref={svg}
          role="group"
          aria-label="Objects of the run. Arrow keys move, Enter chooses."
          viewBox={`0 0 ${layout.width} ${layout.height}`}
          width={layout.width * scale}
          height={layout.height * scale}
          onClick={(event) => indexOf(event.target) >= 0 && onChoose(indexOf(event.target))}
          onKeyDown={move}
        >
          {layout.blocks.map((block) => (
            <rect class="block" x={block.x} y={block.y} width={block.width} height={block.height} rx={8} />
          ))}
          {layout.edges.map(({ from, to, path }) => {
            const isOwned = to.some((each) => versionAt(run.objects[each]!, step)?.owner === from);
            return <path class={isOwned ? "edge" : "edge absent"} d={path} />;
          })}
          {run.objects.map((item, index) => {
            const version = versionAt(item, step);
            return (
              <Node
                key={index}
                {...{ item, index, version, box: layout.boxes[index]! }}
                isNew={version?.step === step}
                isChosen={index === chosen}
                isEntry={index === entry}
              />
            );
          })}
        </svg>
      </div>
    </section>
  );
}
