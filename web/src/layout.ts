// Where the objects of a run stand: owners left of what they own, by dagre. Many siblings of a kind
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

export interface Edge {
  from: number;
  to: number;
  path: string;
}

export interface Layout {
  width: number;
  height: number;
  boxes: Box[]; // by index of the object
  blocks: Box[];
  edges: Edge[];
}

const node = { width: 184, height: 46 };
const cell = { width: 148, height: 40 };
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

function clustersOf(items: Item[]): Cluster[] {
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
    return [{ owner, members, columns: Math.min(12, Math.ceil(Math.sqrt(members.length / 2))) }];
  });
}

function sizeOf(cluster: Cluster): { width: number; height: number } {
  if (cluster.members.length === 1) return { ...node };
  const rows = Math.ceil(cluster.members.length / cluster.columns);
  return { width: cluster.columns * (cell.width + gap) + gap, height: rows * (cell.height + gap) + gap };
}

/** layoutOf places all objects that a run has seen, so that nothing moves as its slider does. */
export function layoutOf(items: Item[]): Layout {
  const clusters = clustersOf(items);
  const home = new Map<number, string>();
  clusters.forEach((cluster, index) => cluster.members.forEach((member) => home.set(member, String(index))));
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 48, marginx: margin, marginy: margin });
  graph.setDefaultEdgeLabel(() => ({}));
  clusters.forEach((cluster, index) => graph.setNode(String(index), sizeOf(cluster)));
  clusters.forEach((cluster, index) => {
    const owner = home.get(cluster.owner);
    if (owner !== undefined && owner !== String(index)) graph.setEdge(owner, String(index));
  });
  dagre.layout(graph);

  const layout: Layout = { width: 0, height: 0, boxes: new Array<Box>(items.length), blocks: [], edges: [] };
  clusters.forEach((cluster, index) => place(layout, cluster, graph.node(String(index)) as Box));
  items.forEach((item, index) => item.versions.forEach((version) => connect(layout, version.owner, index)));
  return layout;
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

function connect(layout: Layout, from: number, to: number): void {
  const [owner, owned] = [layout.boxes[from], layout.boxes[to]];
  if (!owner || !owned || layout.edges.some((edge) => edge.to === to && edge.from === from)) return;
  const target = layout.blocks.find((block) => isWithin(owned, block)) ?? owned;
  const [x1, y1, x2, y2] = [owner.x + owner.width, owner.y + owner.height / 2, target.x, target.y + target.height / 2];
  const middle = (x1 + x2) / 2;
  layout.edges.push({ from, to, path: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` });
}

const isWithin = (box: Box, block: Box) =>
  box.x >= block.x && box.y >= block.y && box.x + box.width <= block.x + block.width && box.y + box.height <= block.y + block.height;
