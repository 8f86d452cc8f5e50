// The objects of a run as a graph: its nodes are buttons, walked through with the arrow keys.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { all, belowOf, layoutOf, node, ownerKey, type Box, type Group, type Layout, type View } from "./layout.ts";
import { lookOf, versionAt, wordsFor, type Item, type Look, type Run, type Version } from "./run.ts";
import { useSize } from "./size.ts";
import { Shape } from "./shape.tsx";
import { fit, readable, scales, useDrag, useZoom, type Room } from "./zoom.ts";

interface NodeProps {
  item: Item;
  index: number;
  box: Box;
  version: Version | undefined;
  isNew: boolean;
  isChosen: boolean;
  isEntry: boolean;
  below: number; // how many objects it owns
  isClosed: boolean; // which are not shown
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

function drawn({ item, index, box, version, isNew, isChosen, isEntry, below, isClosed }: NodeProps) {
  const look = lookOf(version);
  const words = wordsFor(version);
  const room = box.width - (below > 0 ? 60 : 38); // pixels
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
      aria-expanded={below > 0 ? !isClosed : undefined}
      aria-label={`${isCell ? `${item.kind} ${item.name}` : `${item.name} ${item.kind}`} ${words}${isNew ? ", changed in this step" : ""}`}
    >
      <title>{`${item.id}: ${words}`}</title>
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
        {cut(words, Math.floor((box.width - 38) / 6.2))}
      </text>
      {below > 0 && <Toggle at={ownerKey(item)} x={box.width - 30} sign={isClosed ? `+${below}` : "−"} tells={isClosed ? `Show the ${below} objects below it` : "Hide what is below it"} />}
      {isNew && <circle class="dot" cx={box.width - 3} cy={3} r={5} />}
    </g>
  );
}

/** Toggle opens and closes a subtree or a group; keys do it with + and -. */
function Toggle({ at, x, sign, tells }: { at: string; x: number; sign: string; tells: string }) {
  return (
    <g class="toggle" data-toggle={at} transform={`translate(${x} 0)`} aria-hidden="true">
      <title>{tells}</title>
      <rect width={38} height={26} rx={6} />
      <text x={19} y={17}>
        {sign}
      </text>
    </g>
  );
}

const badFirst: Look[] = ["failing", "waiting", "deleting", "ready"];

/** countsOf says how many members of a group are how, and how the worst of them is. */
function countsOf(group: Group, items: Item[], step: number): { present: number; look: Look; words: string } {
  const counts = new Map<Look, number>();
  for (const member of group.members) {
    const look = lookOf(versionAt(items[member]!, step));
    counts.set(look, (counts.get(look) ?? 0) + 1);
  }
  const present = badFirst.reduce((sum, look) => sum + (counts.get(look) ?? 0), 0);
  const parts = [...badFirst].reverse().flatMap((look) => (counts.has(look) ? [`${counts.get(look)} ${look}`] : []));
  return { present, look: badFirst.find((look) => counts.has(look)) ?? "absent", words: parts.join(", ") || "none" };
}

interface GroupProps {
  group: Group;
  items: Item[];
  step: number;
  isChosen: boolean;
  isEntry: boolean;
}

/** Siblings is a group: as one node, or as the frame around its members. */
function Siblings({ group, items, step, isChosen, isEntry }: GroupProps) {
  const { box, key, members, isOpen } = group;
  const { present, look, words } = useMemo(() => countsOf(group, items, step), [group, items, step]);
  const name = `${present} ${items[members[0]!]!.kind}${present === 1 ? "" : "s"}`;
  const place = `translate(${box.x} ${box.y})`;
  if (isOpen) {
    return (
      <g transform={place} aria-hidden="true">
        <rect class="block" width={box.width} height={box.height} rx={8} />
        <text class="words" x={8} y={15}>
          {cut(`${name}: ${words}`, Math.floor((box.width - 46) / 6.2))}
        </text>
        <Toggle at={key} x={box.width - 36} sign="−" tells="Close this group" />
      </g>
    );
  }
  return (
    <g
      class={`node group ${look}`}
      transform={place}
      role="button"
      tabindex={isEntry ? 0 : -1}
      data-index={members[0]}
      data-toggle={key}
      aria-expanded={false}
      aria-label={`${name}, ${words}${isChosen ? ", with the chosen one" : ""}`}
    >
      <title>{`${name}: ${words}. A click shows each.`}</title>
      <rect class="behind" x={4} y={4} width={box.width} height={box.height} rx={6} />
      <rect class={isChosen ? "chosen" : ""} width={box.width} height={box.height} rx={6} />
      <Shape look={look} x={17} y={box.height / 2} />
      <text class="name" x={33} y={24}>
        {name}
      </text>{" "}
      <text class="words" x={33} y={42}>
        {cut(words, 26)}
      </text>
      <text class="sign" x={box.width - 14} y={24}>
        +
      </text>
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
    if (!box || index === from) return;
    const [x, y] = [box.x + box.width / 2 - start.x - start.width / 2, box.y + box.height / 2 - start.y - start.height / 2];
    const along = x * dx + y * dy;
    const cost = along + 3 * Math.abs(x * dy) + 3 * Math.abs(y * dx);
    if (along > 1 && cost < least) [best, least] = [index, cost];
  });
  return best;
}

/** score prefers what can be read without scrolling, and then what scrolls only down. */
const score = (layout: Layout, room: Room) => Math.max(fit(layout, room), Math.min(readable(), room.width / layout.width));

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

/** useView is what of the objects is shown, and how to open and close a part. */
function useView() {
  const [view, setView] = useState<View>(all);
  const toggle = (key: string) =>
    setView((now) => {
      const toggled = new Set(now.toggled);
      if (!toggled.delete(key)) toggled.add(key);
      return { ...now, toggled };
    });
  return { view, toggle, find: (filter: string) => setView((now) => ({ ...now, filter })) };
}

interface Props {
  run: Run;
  step: number;
  chosen: number;
  onChoose: (index: number) => void;
}

export function Graph({ run, step, chosen, onChoose }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const scroll = useRef<HTMLDivElement>(null);
  const room = useSize(scroll);
  const wide = room.width / readable();
  const { view, toggle, find } = useView();
  const [isFull, setFull] = useState(false);
  const items = run.objects;
  const across = useMemo(() => layoutOf(items, "LR", wide, view), [run, wide, view]);
  const down = useMemo(() => layoutOf(items, "TB", wide, view), [run, wide, view]);
  const below = useMemo(() => belowOf(items), [run]);
  const kinds = useMemo(() => [...new Set(items.map((item) => item.kind))], [run]);
  const layout = score(down, room) > score(across, room) ? down : across;
  const { scale, change, whole, more } = useZoom(scroll, layout, room);
  const drag = useDrag(scroll);
  const home = layout.groups.find((group) => group.members.includes(chosen)); // of the chosen one
  const first = layout.boxes.findIndex(Boolean);
  const entry = layout.boxes[chosen] ? chosen : home && !home.isOpen ? home.members[0]! : first;
  const closed = new Map(layout.groups.filter((group) => !group.isOpen).map((group) => [group.members[0]!, group]));

  const next = useRef<number | undefined>(undefined); // what has the focus once it is drawn
  const focus = (index: number) => {
    const to = svg.current?.querySelector<SVGGElement>(`[data-index="${index}"]`);
    to?.focus();
    to?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  useLayoutEffect(() => {
    if (next.current !== undefined) focus(next.current);
    next.current = undefined;
  }, [view]);

  const indexOf = (target: EventTarget | null) => Number((target as Element | null)?.closest("[data-index]")?.getAttribute("data-index") ?? -1);
  const open = (key: string) => {
    toggle(key);
    more();
  };
  const click = (event: MouseEvent) => {
    const key = (event.target as Element).closest("[data-toggle]")?.getAttribute("data-toggle");
    const index = indexOf(event.target);
    if (key) open(key);
    else if (index >= 0) onChoose(index);
  };
  const press = (event: KeyboardEvent) => {
    const from = indexOf(event.target);
    if (from < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const group = layout.groups.find((each) => each.members.includes(from));
    const own = ownerKey(items[from]!);
    const key = group ? group.key : below[from]! > 0 ? own : "";
    const isClosed = group ? !group.isOpen : view.toggled.has(own);
    const isOpening = event.key === "+" || event.key === "=" || (closed.has(from) && (event.key === "Enter" || event.key === " "));
    if (event.key.startsWith("Arrow")) focus(nearest(layout, from, event.key));
    else if (key && (isOpening ? isClosed : event.key === "-" && !isClosed)) {
      next.current = group ? group.members[0]! : from;
      open(key);
    } else if (event.key === "Enter" || event.key === " ") onChoose(from);
    else return;
    event.preventDefault();
  };
  return (
    <section class={`graph${isFull ? " full" : ""}`} aria-label="Objects" onKeyDown={(event) => event.key === "Escape" && isFull && setFull(false)}>
      <div class="strip">
        <input type="search" list="kinds" placeholder="Filter" aria-label="Show only objects with this in their kind or name" onInput={(event) => find(event.currentTarget.value)} />
        <datalist id="kinds">
          {kinds.map((kind) => (
            <option value={kind} />
          ))}
        </datalist>
        <Legend />
        <div class="zoom">
          <button type="button" aria-label="Smaller" onClick={() => change(1 / 1.25)} disabled={scale <= scales.least}>
            −
          </button>
          <button type="button" aria-label="Larger" onClick={() => change(1.25)} disabled={scale >= scales.most}>
            +
          </button>
          <button type="button" title="Show all of it" onClick={whole}>
            Fit
          </button>
          <button type="button" aria-pressed={isFull} title={isFull ? "Show the other parts again" : "Show the graph, and the chosen object"} onClick={() => setFull(!isFull)}>
            Full
          </button>
        </div>
      </div>
      <div class="scroll" ref={scroll} {...drag}>
        {first < 0 && view.filter && <p class="empty">No object has “{view.filter}” in its kind or name.</p>}
        <svg
          ref={svg}
          role="group"
          aria-label="Objects of the run. Arrow keys move, Enter chooses, - and + close and open what an object owns."
          viewBox={`0 0 ${layout.width} ${layout.height}`}
          width={layout.width * scale}
          height={layout.height * scale}
          onClick={click}
          onKeyDown={press}
        >
          {layout.edges.map(({ from, to, path }) => {
            const isOwned = to.some((each) => versionAt(items[each]!, step)?.owner === from);
            return <path class={isOwned ? "edge" : "edge absent"} d={path} />;
          })}
          {layout.groups.map((group) => (
            <Siblings key={group.key} {...{ group, items, step }} isChosen={group === home} isEntry={!group.isOpen && entry === group.members[0]} />
          ))}
          {layout.boxes.map((box, index) => {
            if (!box || closed.has(index)) return null;
            const item = items[index]!;
            const version = versionAt(item, step);
            return (
              <Node
                key={index}
                {...{ item, index, version, box }}
                isNew={version?.step === step}
                isChosen={index === chosen}
                isEntry={index === entry}
                below={below[index]!}
                isClosed={view.toggled.has(ownerKey(item))}
              />
            );
          })}
        </svg>
      </div>
    </section>
  );
}
