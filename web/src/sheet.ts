import { useCallback, useLayoutEffect, useState } from "preact/hooks";

/** useSheet is whether the chosen object lies over the page, as it does on a small screen. What was tapped stays in sight. */
export function useSheet(chosen: number) {
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    const isSheet = isOpen && getComputedStyle(document.querySelector(".inspector")!).position === "fixed";
    if (isSheet) document.querySelector('.node[aria-pressed="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [isOpen, chosen]);
  const open = useCallback(() => setOpen(true), []);
  const close = () => setOpen(false);
  return { isOpen, open, close, onKeyDown: (event: KeyboardEvent) => event.key === "Escape" && close() };
}
