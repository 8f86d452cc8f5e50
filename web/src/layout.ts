// Where the objects of a run stand: owners left of what they own or above it, by dagre. Many siblings of a kind
// that own nothing become one block of cells, for neither a person nor dagre can do much with a
// column of three hundred; very many are one group until somebody opens it.

import dagre from "@dagrejs/dagre";

import type { Item } from "./run.ts";

export interface Box {
  x: number; // of its left edge
  y: number; // of its upper edge
  width: number;
  height: number;
}

/** Direction leads from owners to what they own. */
export type Direction = "LR" | "TB";

/** Edge leads from an owner to what it owns: to one object, or to all in a group. */
export interface Edge {
  from: number;
  to: number[];
  path: string;
}

/** Group is many siblings of a kind. What is closed is one box, at the place of its first member. */
export interface Group {
  key: string;
  members: number[];
  isOpen: boolean;
  box: Box;
}

export interface Layout {
  width: number;
  height: number;
  boxes: (Box | undefined)[]; // by index of the object
  groups: Group[];
  edges: Edge[];
}

/** View is what of the objects somebody wants to see. */
export interface View {
  filter: string;
  toggled: ReadonlySet<string>; // what is not as it is at first: keys of groups and of owners
}

export const all: View = { filter: "", toggled: new Set() };

/** node is the size of an object that stands alone. */
export const node = { width: 168, height: 56 };
const closed = { width: 196, height: 56 };
const cell = { width: 140, height: 44 };
const gap = 6;
const head = 22; // of a block, above its cells
const margin = 12;
const blockFrom = 7; // siblings
const closedFrom = 41;

interface Cluster {
  owner: number;
  members: number[];
  columns: number;
  key?: string; // of a group
  isOpen?: boolean;
}

/** ownerOf returns the owner that an object had first. */
export function ownerOf(item: Item): number {
  return item.versions.find((version) => version.owner >= 0)?.owner ?? -1;
}

/** ownerKey is what of a view closes that which an object owns. */
export const ownerKey = (item: Item) => `owner ${item.namespace}/${item.id}`;

/** belowOf returns how many objects each owns, also by others. */
export function belowOf(items: Item[]): number[] {
  const owners = items.map(ownerOf);
  const count = items.map(() => 0);
  owners.forEach((first, index) => {
    const seen = new Set([index]);
    for (let owner = first; owner >= 0 && !seen.has(owner); owner = owners[owner]!) {
      seen.add(owner);
      count[owner]!++;
    }
  });
  return count;
}

/** shownOf tells of each object whether a view has it: what is not below a closed owner, and fits, or owns what does. */
export function shownOf(items: Item[], { filter, toggled }: View): boolean[] {
  const owners = items.map(ownerOf);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = items.map(() => false);
  items.forEach((item, index) => {
    const text = item.id.toLowerCase();
    if (!words.every((word) => text.includes(word))) return;
    const path = [index];
    for (let owner = owners[index]!; owner >= 0 && !path.includes(owner); owner = owners[owner]!) path.push(owner);
    const from = path.findLastIndex((each, place) => place > 0 && toggled.has(ownerKey(items[each]!)));
    for (const each of path.slice(Math.max(0, from))) shown[each] = true;
  });
  return shown;
}

const inOrder = new Intl.Collator("en", { numeric: true });

function clustersOf(items: Item[], direction: Direction, room: number, view: View): Cluster[] {
  const most = Math.max(2, Math.floor((room - 2 * margin - gap) / (cell.width + gap))); // columns
  const rows = direction === "LR" ? 6 : 0.5; // for each column: a block is as long as the side that its owner looks at
  const owners = items.map(ownerOf);
  const owning = new Set(owners);
  const byKey = new Map<string, number[]>();
  shownOf(items, view).forEach((isShown, index) => {
    if (!isShown) return;
    const owner = items[owners[index]!];
    const key = owning.has(index) || !owner ? `#${index}` : `group ${owner.namespace}/${owner.id} ${items[index]!.kind}`;
    const list = byKey.get(key);
    if (list) list.push(index);
    else byKey.set(key, [index]);
  });
  return [...byKey].flatMap(([key, members]) => {
    const owner = owners[members[0]!]!;
    if (members.length < blockFrom) return members.map((member) => ({ owner, members: [member], columns: 1 }));
    members.sort((a, b) => inOrder.compare(items[a]!.name, items[b]!.name));
    const isOpen = members.length < closedFrom !== view.toggled.has(key);
    return [{ owner, members, columns: Math.min(most, Math.ceil(Math.sqrt(members.length / rows))), key, isOpen }];
  });
}

function sizeOf(cluster: Cluster): { width: number; height: number } {
  if (cluster.key === undefined) return { ...node };
  if (!cluster.isOpen) return { ...closed };
  const rows = Math.ceil(cluster.members.length / cluster.columns);
  return { width: Math.max(closed.width, cluster.columns * (cell.width + gap) + gap), height: head + rows * (cell.height + gap) + gap };
}

/**
 * layoutOf places all objects of a view that a run has seen, so that nothing moves as its slider does. No block is
 * wider than the room that there is, from two columns on.
 */
export function layoutOf(items: Item[], direction: Direction, room: number, view: View = all): Layout {
  const clusters = clustersOf(items, direction, room, view);
  const home = new Map<number, string>();
  clusters.forEach((cluster, index) => cluster.members.forEach((member) => home.set(member, String(index))));
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: direction, nodesep: 14, ranksep: 36, marginx: margin, marginy: margin });
  graph.setDefaultEdgeLabel(() => ({}));
  clusters.forEach((cluster, index) => graph.setNode(String(index), sizeOf(cluster)));
  clusters.forEach((cluster, index) => {
    const owner = home.get(cluster.owner);
    if (owner !== undefined && owner !== String(index)) graph.setEdge(owner, String(index));
  });
  dagre.layout(graph);

  const layout: Layout = { width: 0, height: 0, boxes: items.map(() => undefined), groups: [], edges: [] };
  sortSiblings(clusters, (index) => graph.node(String(index)) as Box);
  clusters.forEach((cluster, index) => place(layout, cluster, graph.node(String(index)) as Box));
  const groupOf = new Map(layout.groups.flatMap((group) => group.members.map((member) => [member, group] as const)));
  const edges = new Map<string, Edge>();
  items.forEach((item, index) => item.versions.forEach((version) => connect(layout, edges, direction, version.owner, index, groupOf.get(index)?.box)));
  return { ...layout, edges: [...edges.values()] };
}

/** sortSiblings lets those that own nothing stand in their order, which dagre does not keep. */
function sortSiblings(clusters: Cluster[], at: (index: number) => Box): void {
  const owning = new Set(clusters.map((cluster) => cluster.owner));
  const siblings = new Map<number, Box[]>();
  clusters.forEach((cluster, index) => {
    const isLeaf = cluster.key === undefined && !owning.has(cluster.members[0]!);
    if (isLeaf) siblings.set(cluster.owner, [...(siblings.get(cluster.owner) ?? []), at(index)]);
  });
  for (const boxes of siblings.values()) {
    const places = boxes.map(({ x, y }) => ({ x, y })).sort((a, b) => a.x - b.x || a.y - b.y);
    boxes.forEach((box, index) => Object.assign(box, places[index]));
  }
}

function place(layout: Layout, { key, members, columns, isOpen = false }: Cluster, at: Box): void {
  const box = { x: at.x - at.width / 2, y: at.y - at.height / 2, width: at.width, height: at.height };
  layout.width = Math.max(layout.width, box.x + box.width + margin);
  layout.height = Math.max(layout.height, box.y + box.height + margin);
  if (key !== undefined) layout.groups.push({ key, members, isOpen, box });
  if (!isOpen) {
    layout.boxes[members[0]!] = box;
    return;
  }
  members.forEach((member, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    layout.boxes[member] = {
      x: box.x + gap + column * (cell.width + gap),
      y: box.y + head + row * (cell.height + gap),
      ...cell,
    };
  });
}

function connect(layout: Layout, edges: Map<string, Edge>, direction: Direction, from: number, to: number, group?: Box): void {
  const [owner, owned] = [layout.boxes[from], group ?? layout.boxes[to]];
  if (!owner || !owned) return;
  const path = direction === "LR" ? across(owner, owned) : down(owner, owned);
  const edge = edges.get(path);
  if (!edge) edges.set(path, { from, to: [to], path });
  else if (edge.to.at(-1) !== to) edge.to.push(to);
}

function across(from: Box, to: Box): string {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function down(from: Box, to: Box): string {
  const [x1, y1, x2, y2] = [from.x + from.width / 2, from.y + from.height, to.x + to.width / 2, to.y];
  const middle = (y1 + y2) / 2;
  return `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
}
