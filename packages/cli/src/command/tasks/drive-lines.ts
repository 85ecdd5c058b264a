// Renders the events of `soong tasks drive` as lines for users.

import type { DriveEvent } from "@soong/agent";
import type { StepStatus } from "@soong/tasks";
import { visibleLine, type Output } from "../../output/index.ts";

export function renderDriveEvent(event: DriveEvent, { colours }: Pick<Output, "colours">): string {
  const step = visibleLine(event.step_id);
  switch (event.kind) {
    case "dispatched": {
      const again = event.attempt > 1 ? ` (attempt ${event.attempt})` : "";
      return colours.dim(`→ ${step} to ${event.worker}${again}: ${visibleLine(event.title)}`);
    }
    case "waiting":
      return colours.dim(`· ${step} ${visibleLine(event.message)}`);
    case "retried":
      return colours.dim(`↻ ${step}: tried ${event.attempts} of ${event.max_attempts} times`);
    case "step_ended": {
      const word = UNFINISHED[event.status];
      const colour = word !== undefined ? "yellow" : event.status === "completed" ? "green" : "red";
      const count = event.status === "completed" ? ` (${event.completed}/${event.of_steps})` : "";
      const line = `← ${step} ${word ?? event.status}${count}, ${visibleLine(event.worker)}`;
      return `${colours[colour](line)}: ${visibleLine(event.summary).slice(0, 300)}`;
    }
  }
}

/** The words for steps that have not ended when their worker leaves them. */
const UNFINISHED: Readonly<Partial<Record<StepStatus, string>>> = {
  ready: "given back",
  // The worker was asked to stop and has not stopped yet.
  claimed: "is being stopped",
  running: "is being stopped",
};
