// The parts of the page, and what lies between them, which somebody can drag or move with the arrow keys.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

type Name = "left" | "right" | "below";

interface Split {
  label: string;
  first: number; // percent
  least: number;
  most: number;
  key: { more: string; less: string };
}

const splits: Record<Name, Split> = {
  left: { label: "Width of the text", first: 26, least: 16, most: 50, key: { more: "ArrowRight", less: "ArrowLeft" } },
  right: { label: "Width of the object", first: 28, least: 18, most: 50, key: { more: "ArrowLeft", less: "ArrowRight" } },
  below: { label: "Height of the lanes", first: 44, least: 15, most: 80, key: { more: "ArrowUp", less: "ArrowDown" } },
};

const kept = "operetta play panels"; // in the browser

function keptSizes(): Partial<Record<Name, number>> {
  try {
    return (JSON.parse(localStorage.getItem(kept) ?? "{}") as Partial<Record<Name, number>> | null) ?? {};
  } catch {
    return {}; // the browser keeps nothing for a file
  }
}

interface Props {
  names: Name[];
  isBusy?: boolean;
  children: ComponentChildren;
}

export function Panels({ names, isBusy = false, children }: Props) {
  const main = useRef<HTMLElement>(null);
  const [sizes, setSizes] = useState(keptSizes);
  const sizeOf = (name: Name) => sizes[name] ?? splits[name].first;
  const set = (name: Name, percent: number) => {
    const next = { ...sizes, [name]: Math.round(10 * Math.max(splits[name].least, Math.min(splits[name].most, percent))) / 10 };
    setSizes(next);
    try {
      localStorage.setItem(kept, JSON.stringify(next));
    } catch {
      // it is forgotten when the page is closed
    }
  };
  const drag = (name: Name, event: PointerEvent) => {
    if (event.buttons !== 1) return;
    const bounds = main.current!.getBoundingClientRect();
    const above = main.current!.querySelector(".graph")!.getBoundingClientRect().top;
    const percent = {
      left: (event.clientX - bounds.left) / bounds.width,
      right: (bounds.right - event.clientX) / bounds.width,
      below: (bounds.bottom - event.clientY) / (bounds.bottom - above),
    };
    set(name, 100 * percent[name]);
  };
  const press = (name: Name, event: KeyboardEvent) => {
    const { key, least, most } = splits[name];
    const to = { [key.more]: sizeOf(name) + 2, [key.less]: sizeOf(name) - 2, Home: least, End: most }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    set(name, to);
  };
  const below = sizeOf("below");
  const style = { "--left": `${sizeOf("left")}%`, "--right": `${sizeOf("right")}%`, "--above": `${100 - below}fr`, "--below": `${below}fr` };
  return (
    <main ref={main} aria-busy={isBusy} style={style}>
      {children}
      {names.map((name) => (
        <div
          class={`split ${name}`}
          role="separator"
          tabIndex={0}
          title={`${splits[name].label}: drag it, or use the arrow keys`}
          aria-label={splits[name].label}
          aria-orientation={name === "below" ? "horizontal" : "vertical"}
          aria-valuenow={sizeOf(name)}
          aria-valuemin={splits[name].least}
          aria-valuemax={splits[name].most}
          onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
          onPointerMove={(event) => drag(name, event)}
          onKeyDown={(event) => press(name, event)}
        />
      ))}
    </main>
  );
}
