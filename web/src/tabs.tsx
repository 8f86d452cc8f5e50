import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";

interface Props {
  label: string;
  tabs: { name: string; content: () => ComponentChildren }[];
}

/** Tabs shows one of several things. The arrow keys change which. */
export function Tabs({ label, tabs }: Props) {
  const [shown, setShown] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const move = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    const next = (shown + by + tabs.length) % tabs.length;
    setShown(next);
    list.current?.querySelectorAll("button")[next]?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((tab, index) => (
          <button
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-selected={index === shown}
            aria-controls={`${id}-panel`}
            tabIndex={index === shown ? 0 : -1}
            onClick={() => setShown(index)}
          >
            {tab.name}
          </button>
        ))}
      </div>
      <div class="panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${shown}`} tabIndex={0}>
        {tabs[shown]?.content()}
      </div>
    </>
  );
}
