// The objects of a run as a graph: its nodes are buttons, walked through with the arrow keys.

import { useMemo, useRef, useState } from "preact/hooks";

import { layoutOf, type Box, type Layout } from "./layout.ts";
import { lookOf, versionAt, wordsFor, type Item, type Run, type Version } from "./run.ts";
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

/** shortened keeps both ends of a name, for a Pod's last letters tell it from its siblings. */
function shortened(text: string, width: number): string {
  const most = Math.floor(width / 7);
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) * 0.4);
  return text.slice(0, most - 1 - tail) + "…" + text.slice(text.length - tail);
}

/** Node is drawn again only if something of it has changed: there may be hundreds. */
function Node(props: NodeProps) {
  return useMemo(() => drawn(props), Object.values(props));
}

function drawn({ item, index, box, version, isNew, isChosen, isEntry }: NodeProps) {
  const look = lookOf(version);
  const words = wordsFor(version);
  const room = box.width - 40;
  return (
    <g
      class={`node ${look} ${item.role}${isNew ? " new" : ""}`}
      transform={`translate(${box.x} ${box.y})`}
      role="button"
      tabIndex={isEntry ? 0 : -1}
      data-index={index}
      aria-pressed={isChosen}
      aria-label={`${item.kind} ${item.name}, ${words}${isNew ? ", changed in this step" : ""}`}
    >
      <title>{`${item.id}: ${words}`}</title>
      <rect width={box.width} height={box.height} rx={6} />
      <Shape look={look} x={17} y={box.height / 2} />
      <text class="name" x={33} y={box.height / 2 - 4}>
        {shortened(item.name, room)}
      </text>
      <text class="words" x={33} y={box.height / 2 + 12}>
        {shortened(`${item.kind} · ${words}`, room * 1.12)}
      </text>
      {isNew && <circle class="dot" cx={box.width - 9} cy={9} r={3.5} />}
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

interface Props {
  run: Run;
  step: number;
  chosen: number;
  onChoose: (index: number) => void;
}

const zooms = [0.5, 0.65, 0.8, 1, 1.25, 1.5];

export function Graph({ run, step, chosen, onChoose }: Props) {
  const layout = useMemo(() => layoutOf(run.objects), [run]);
  const svg = useRef<SVGSVGElement>(null);
  const [zoom, setZoom] = useState(3);
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
  const change = (by: number) => setZoom(Math.max(0, Math.min(zooms.length - 1, zoom + by)));
  return (
    <section class="graph" aria-label="Objects">
      <div class="zoom">
        <button type="button" aria-label="Smaller" onClick={() => change(-1)} disabled={zoom === 0}>
          −
        </button>
        <button type="button" aria-label="Larger" onClick={() => change(1)} disabled={zoom === zooms.length - 1}>
          +
        </button>
      </div>
      <div class="scroll">
        <svg
          ref={svg}
          role="group"
          aria-label="Objects of the run. Arrow keys move, Enter chooses."
          viewBox={`0 0 ${layout.width} ${layout.height}`}
          width={layout.width * zooms[zoom]!}
          height={layout.height * zooms[zoom]!}
          onClick={(event) => indexOf(event.target) >= 0 && onChoose(indexOf(event.target))}
          onKeyDown={move}
        >
          {layout.blocks.map((block) => (
            <rect class="block" x={block.x} y={block.y} width={block.width} height={block.height} rx={8} />
          ))}
          {layout.edges.map((edge) => {
            const version = versionAt(run.objects[edge.to]!, step);
            return <path class={version && version.owner === edge.from ? "edge" : "edge absent"} d={edge.path} />;
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
