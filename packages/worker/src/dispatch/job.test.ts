import type { JsonObject } from "@soong/schema";
import { expect, test } from "vitest";
import { readJob, toJob } from "./job.ts";

const WORK = {
  guards: [],
  pool: "builders",
  task_id: "task_1",
  step_id: "plan",
  agent_definition_id: "builder",
  definition_digest: "d",
  from: { session_id: "s", run_id: "r", agent_id: "a", tool_call_id: "c" },
};

test("a job is read as it was written, and has an id of its own in each dispatch", () => {
  const work = { ...WORK, allowed_tools: ["code.read_file"], model: "fast" };
  const job = toJob(work, { attempts: 1 }, 1);
  expect(job.id).toMatch(/^task_1\/plan\/2-[0-9a-f]{12}\.1$/);
  expect(toJob(work, { attempts: 1 }, 2).id).toBe(job.id.replace(/1$/, "2"));
  for (const other of [{ run_id: "r2" }, { tool_call_id: "c2" }]) {
    const again = { ...work, from: { ...work.from, ...other } };
    expect(toJob(again, { attempts: 1 }, 1).id).not.toBe(job.id);
  }
  expect(readJob(job)).toEqual(job.data);
});

test.each<[JsonObject, string]>([
  [{}, "it has no pool"],
  [{ ...WORK, step_id: "" }, "it has no step_id"],
  [{ ...WORK, definition_digest: 3 }, "it has no definition_digest"],
  [{ ...WORK, from: [] }, "it does not say where it is from (from)"],
  [{ ...WORK, from: { ...WORK.from, run_id: null } }, "it does not say where it is from (run_id)"],
  [{ ...WORK, allowed_tools: "code.*" }, "its allowed_tools must be a list of names"],
  [{ ...WORK, instructions: {} }, "its instructions must be text"],
  [{ ...WORK, model: "" }, "its model must be a name"],
  [{ ...WORK, guards: {} }, "its guards must be a list of hooks"],
  [{ ...WORK, guards: [{ id: "guard" }] }, "its guards must be a list of hooks"],
])("%j is refused: %s", (data, why) => {
  expect(readJob({ id: "x", data })).toBe(why);
});
