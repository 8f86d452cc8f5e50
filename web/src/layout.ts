// Where the objects of a run stand: owners left of what they own or above it, by dagre. Many siblings of a kind
// that own nothing become one block of cells, for neither a person nor dagre can do much with a
// column of three hundred.

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

/** Edge leads from an owner to what it owns: to one object, or to all in a block. */
export interface Edge {
  from: number;
  to: number[];
  path: string;
}

export interface Layout {
  width: number;
  height: number;
  boxes: Box[]; // by index of the object
  blocks: Box[];
  edges: Edge[];
}

/** node is the size of an object that stands alone. */
export const node = { width: 168, height: 56 };
const cell = { width: 140, height: 40 };
const gap = 6;
const margin = 12;
const blockFrom = 7; // siblings

interface Cluster {
  owner: number;
  members: number[];
  columns: number;
}

/** ownerOf returns the owner that an object had first. */
export function ownerOf(item: Item): number {
  return item.versions.find((version) => version.owner >= 0)?.owner ?? -1;
}

const inOrder = new Intl.Collator("en", { numeric: true });

function clustersOf(items: Item[], direction: Direction, room: number): Cluster[] {
  const most = Math.max(2, Math.floor((room - 2 * margin - gap) / (cell.width + gap))); // columns
  const rows = direction === "LR" ? 6 : 0.5; // for each column: a block is as long as the side that its owner looks at
  const owners = items.map(ownerOf);
  const owning = new Set(owners);
  const byKey = new Map<string, number[]>();
  items.forEach((item, index) => {
    const key = owning.has(index) || owners[index] === -1 ? `#${index}` : `${owners[index]} ${item.kind}`;
    byKey.set(key, [...(byKey.get(key) ?? []), index]);
  });
  return [...byKey.values()].flatMap((members) => {
    const owner = owners[members[0]!]!;
    if (members.length < blockFrom) return members.map((member) => ({ owner, members: [member], columns: 1 }));
    members.sort((a, b) => inOrder.compare(items[a]!.name, items[b]!.name));
    return [{ owner, members, columns: Math.min(most, Math.ceil(Math.sqrt(members.length / rows))) }];
  });
}

function sizeOf(cluster: Cluster): { width: number; height: number } {
  if (cluster.members.length === 1) return { ...node };
  const rows = Math.ceil(cluster.members.length / cluster.columns);
  return { width: cluster.columns * (cell.width + gap) + gap, height: rows * (cell.height + gap) + gap };
}

/**
 * layoutOf places all objects that a run has seen, so that nothing moves as its slider does. No block is
 * wider than the room that there is, from two columns on.
 */
export function layoutOf(items: Item[], direction: Direction, room: number): Layout {
  const clusters = clustersOf(items, direction, room);
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

  const layout: Layout = { width: 0, height: 0, boxes: new Array<Box>(items.length), blocks: [], edges: [] };
  sortSiblings(clusters, (index) => graph.node(String(index)) as Box);
  clusters.forEach((cluster, index) => place(layout, cluster, graph.node(String(index)) as Box));
  items.forEach((item, index) => item.versions.forEach((version) => connect(layout, direction, version.owner, index)));
  return layout;
}

/** sortSiblings lets those that own nothing stand in their order, which dagre does not keep. */
function sortSiblings(clusters: Cluster[], at: (index: number) => Box): void {
  const owning = new Set(clusters.map((cluster) => cluster.owner));
  const siblings = new Map<number, Box[]>();
  clusters.forEach((cluster, index) => {
    const isLeaf = cluster.members.length === 1 && !owning.has(cluster.members[0]!);
    if (isLeaf) siblings.set(cluster.owner, [...(siblings.get(cluster.owner) ?? []), at(index)]);
  });
  for (const boxes of siblings.values()) {
    const places = boxes.map(({ x, y }) => ({ x, y })).sort((a, b) => a.x - b.x || a.y - b.y);
    boxes.forEach((box, index) => Object.assign(box, places[index]));
  }
}

function place(layout: Layout, cluster: Cluster, at: Box): void {
  const outer = { x: at.x - at.width / 2, y: at.y - at.height / 2, width: at.width, height: at.height };
  layout.width = Math.max(layout.width, outer.x + outer.width + margin);
  layout.height = Math.max(layout.height, outer.y + outer.height + margin);
  if (cluster.members.length === 1) {
    layout.boxes[cluster.members[0]!] = outer;
    return;
  }
  layout.blocks.push(outer);
  cluster.members.forEach((member, index) => {
    const [row, column] = [Math.floor(index / cluster.columns), index % cluster.columns];
    layout.boxes[member] = {
      x: outer.x + gap + column * (cell.width + gap),
      y: outer.y + gap + row * (cell.height + gap),
      ...cell,
    };
  });
}

function connect(layout: Layout, direction: Direction, from: number, to: number): void {
  const [owner, owned] = [layout.boxes[from], layout.boxes[to]];
  if (!owner || !owned) return;
  const target = layout.blocks.find((block) => isWithin(owned, block)) ?? owned;
  const path = direction === "LR" ? across(owner, target) : down(owner, target);
  const edge = layout.edges.find((each) => each.path === path);
  if (!edge) layout.edges.push({ from, to: [to], path });
  else if (!edge.to.includes(to)) edge.to.push(to);
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

const isWithin = (box: Box, block: Box) =>
  box.x >= block.x && box.y >= block.y && box.x + box.width <= block.x + block.width && box.y + box.height <= block.y + block.height;
