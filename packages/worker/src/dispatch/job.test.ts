import type { JsonObject } from "@soong/schema";
import { expect, test } from "vitest";
import { readJob, toJob } from "./job.ts";

const WORK = {
  pool: "builders",
  task_id: "task_1",
  step_id: "plan",
  agent_definition_id: "builder",
  definition_digest: "d",
  from: { session_id: "s", run_id: "r", agent_id: "a", tool_call_id: "c" },
};

test("a job is read as it was written, and has one id for each time that its step is ready", () => {
  const work = { ...WORK, allowed_tools: ["code.read_file"], model: "fast" };
  const job = toJob(work, { attempts: 1 });
  expect(job.id).toBe("task_1/plan/2");
  const stopped = { attempt: 2, outcome: "stopped", message: "", run_id: "r" } as const;
  const earlier = [{ ...stopped, at: "2026-01-01T00:00:00.000Z" }];
  expect(toJob(work, { attempts: 1, earlier }).id).toBe("task_1/plan/2-mjuohs00");
  expect(readJob(job)).toEqual(job.data);
});

test.each<[JsonObject, string]>([
  [{}, "it has no pool"],
  [{ ...WORK, step_id: "" }, "it has no step_id"],
  [{ ...WORK, definition_digest: 3 }, "it has no definition_digest"],
  [{ ...WORK, from: [] }, "it does not say where it is from (from)"],
  [{ ...WORK, from: { ...WORK.from, run_id: null } }, "it does not say where it is from (run_id)"],
  [{ ...WORK, allowed_tools: "code.*" }, "its allowed_tools are no names"],
  [{ ...WORK, instructions: {} }, "its instructions are no text"],
  [{ ...WORK, model: "" }, "its model is no reference"],
])("%j is refused: %s", (data, why) => {
  expect(readJob({ id: "x", data })).toBe(why);
});
