import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { JobWork } from "../dispatch/index.ts";
import { createDeclinedSteps } from "./declined-steps.ts";

function work(step_id: string, number: number): JobWork {
  const from = { session_id: "s", run_id: "r", agent_id: "a", tool_call_id: step_id };
  return { task_id: "t", step_id, from, number } as unknown as JobWork;
}

test("a step is new once, a reason is new once, and a job behind a later one is not needed", () => {
  verifies("DIST-1");
  const declined = createDeclinedSteps();
  const isNew = { isNewStep: true, isNewReason: true, isOutdated: false };
  expect(declined.add(work("a", 2), "why")).toEqual(isNew);
  expect(declined.add(work("b", 1), "why")).toEqual({ ...isNew, isNewReason: false });
  const known = { isNewStep: false, isNewReason: false, isOutdated: false };
  expect(declined.add(work("a", 3), "why")).toEqual(known);
  expect(declined.add(work("a", 2), "why")).toEqual({ ...known, isOutdated: true });
  expect(declined.list().map(({ step_id }) => step_id)).toEqual(["b", "a"]);
});

test("a step that it takes after all is not declined any more", () => {
  const declined = createDeclinedSteps();
  declined.add(work("a", 1), "why");
  declined.remove(work("a", 1));
  expect(declined.list()).toEqual([]);
});

test("a step is reported once for each reason, and a reason is cut to a line or two", () => {
  verifies("DIST-1");
  const declined = createDeclinedSteps();
  declined.add(work("a", 1), "one");
  expect(declined.add(work("a", 1), "two")).toMatchObject({ isNewStep: true, isNewReason: true });
  declined.add(work("a", 1), "x".repeat(10_000));
  expect(declined.list().map(({ why }) => why.length)).toEqual([501]);
});

test("of very many only the latest are listed", () => {
  verifies("DIST-1");
  const declined = createDeclinedSteps();
  for (let i = 0; i < 300; i += 1) declined.add(work(String(i), 1), "why");
  const listed = declined.list();
  expect(listed).toHaveLength(200);
  expect(listed.at(-1)?.step_id).toBe("299");
});
