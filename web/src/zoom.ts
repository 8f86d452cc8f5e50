// How large the graph is, and which part of it is seen: it is scrolled, so that keys and fingers move it as they
// move any other page; a mouse drags it, and its wheel zooms at the pointer.

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Layout } from "./layout.ts";

export interface Room {
  width: number;
  height: number;
}

export const scales = { least: 0.05, most: 2 };

/** readable is the scale at which names can be read; a finger needs all of it. */
export const readable = () => (matchMedia("(max-width: 999px)").matches ? 1 : 0.75);

export const fit = (layout: Room, room: Room) => Math.min(1, (room.width - 1) / layout.width, (room.height - 1) / layout.height);

/** Zoom is a scale, or how it follows from the room: whole, or at least readable. */
type Zoom = number | "whole" | "readable";


/** useZoom returns the scale of a layout, and how to change it. */
export function useZoom(scroll: RefObject<HTMLDivElement | null>, layout: Layout, room: Room) {
  const [zoom, setZoom] = useState<Zoom>("readable");
  const whole = Math.max(scales.least, fit(layout, room));
  const scale = zoom === "whole" ? whole : zoom === "readable" ? Math.max(readable(), whole) : zoom;
  const anchor = useRef<{ x: number; y: number; left: number; top: number } | undefined>(undefined); // a point of the graph, and where it is to stay
  const latest = useRef(scale);
  latest.current = scale;
  useLayoutEffect(() => {
    const [home, at] = [scroll.current, anchor.current];
    anchor.current = undefined;
    if (!home || !at) return;
    home.scrollLeft = at.x * scale - at.left;
    home.scrollTop = at.y * scale - at.top;
  }, [scale]);

  /** change zooms by a factor, at a place within the part that is seen. */
  const change = (factor: number, left = room.width / 2, top = room.height / 2) => {
    const home = scroll.current!;
    const next = Math.max(scales.least, Math.min(scales.most, latest.current * factor));
    if (next === latest.current) return false;
    anchor.current = { x: (home.scrollLeft + left) / latest.current, y: (home.scrollTop + top) / latest.current, left, top };
    setZoom(next);
    return true;
  };
  const wheel = useRef(change);
  wheel.current = change;
  useEffect(() => {
    const home = scroll.current!;
    const turned = (event: WheelEvent) => {
      if (event.shiftKey || event.deltaY === 0) return; // that scrolls to the side
      const bounds = home.getBoundingClientRect();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
      if (wheel.current(Math.exp(-event.deltaY * lines * 0.0015), event.clientX - bounds.left, event.clientY - bounds.top)) event.preventDefault();
    };
    home.addEventListener("wheel", turned, { passive: false });
    return () => home.removeEventListener("wheel", turned);
  }, []);
  const more = () => setZoom((now) => (now === "whole" ? "readable" : now)); // there is more to see, and it shall be read
  return { scale, change, whole: () => setZoom("whole"), more };
}

/** useDrag lets a mouse drag what is scrolled. The click that ends it chooses nothing. */
export function useDrag(scroll: RefObject<HTMLDivElement | null>) {
  const from = useRef<{ x: number; y: number; left: number; top: number; isMoved: boolean } | undefined>(undefined);
  const onPointerDown = (event: PointerEvent) => {
    const home = scroll.current!;
    from.current = undefined;
    if (event.button !== 0 || event.pointerType !== "mouse") return;
    from.current = { x: event.clientX, y: event.clientY, left: home.scrollLeft, top: home.scrollTop, isMoved: false };
  };
  const onPointerMove = (event: PointerEvent) => {
    const [home, at] = [scroll.current!, from.current];
    if (!at || event.buttons !== 1) return;
    if (!at.isMoved && Math.hypot(event.clientX - at.x, event.clientY - at.y) < 5) return;
    if (!at.isMoved) home.setPointerCapture(event.pointerId);
    at.isMoved = true;
    home.scrollLeft = at.left - (event.clientX - at.x);
    home.scrollTop = at.top - (event.clientY - at.y);
  };
  const onClickCapture = (event: MouseEvent) => {
    if (from.current?.isMoved) event.stopPropagation();
    from.current = undefined;
  };
  return { onPointerDown, onPointerMove, onClickCapture };
}
