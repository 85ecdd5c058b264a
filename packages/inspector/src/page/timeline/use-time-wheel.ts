// The wheel over a timeline: with Ctrl it looks closer or further away, with Shift or sideways it moves in time.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Axis } from "./use-axis.ts";

export function useTimeWheel(chart: RefObject<HTMLElement | null>, axis: Axis): void {
  const latest = useRef(axis);
  latest.current = axis;
  useEffect(() => {
    const element = chart.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      const ticks = element.querySelector(".ticks")?.getBoundingClientRect();
      if (ticks === undefined || ticks.width === 0) return;
      if (event.ctrlKey) {
        event.preventDefault();
        const part = Math.min(1, Math.max(0, (event.clientX - ticks.left) / ticks.width));
        latest.current.zoom(event.deltaY > 0 ? 1.25 : 0.8, part);
        return;
      }
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (sideways === 0) return;
      event.preventDefault();
      latest.current.move(sideways / ticks.width);
    };
    // Not passive: else the browser would zoom the page.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
}
