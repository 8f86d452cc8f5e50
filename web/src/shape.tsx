// A state as a shape, so that nobody needs colours to tell one from another.

import type { Look } from "./run.ts";

const paths: Record<Look, string> = {
  absent: "",
  deleting: "M-4 0H4",
  failing: "M0 -3.5V1M0 3.6V3.7",
  gone: "M-3 -3L3 3M3 -3L-3 3",
  ready: "M-3.5 .2L-1 2.8L3.8 -2.6",
  waiting: "M0 -4V0L2.6 1.8",
};

export function Shape({ look, x, y }: { look: Look; x: number; y: number }) {
  return (
    <g class={`shape ${look}`} transform={`translate(${x} ${y})`} aria-hidden="true">
      {look === "failing" ? <path class="body" d="M0 -8.6L9 7H-9Z" /> : look === "gone" ? <rect class="body" x={-7} y={-7} width={14} height={14} rx={2} /> : <circle class="body" r={8} />}
      <path class="sign" d={paths[look]} />
    </g>
  );
}
