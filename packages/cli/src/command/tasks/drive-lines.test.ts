import type { StepStatus } from "@soong/tasks";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { coloursFor } from "../../output/index.ts";
import { renderDriveEvent } from "./drive-lines.ts";

const colours = coloursFor({}, { FORCE_COLOR: "1" });

test.each<[StepStatus, string]>([
  ["completed", colours.green("← plan completed (3/8), builders/1")],
  ["failed", colours.red("← plan failed, builders/1")],
  ["ready", colours.yellow("← plan given back, builders/1")],
  ["running", colours.yellow("← plan is being stopped, builders/1")],
])("a step that is %s when its worker leaves it has a word and a colour", (status, line) => {
  verifies("TASK-6");
  const event = { kind: "step_ended", step_id: "plan", worker: "builders/1", status } as const;
  const counted = { ...event, summary: "why", completed: 3, of_steps: 8 };
  expect(renderDriveEvent(counted, { colours })).toBe(`${line}: why`);
});
