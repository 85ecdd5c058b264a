import { createKernel, defineHook, defineTool } from "@soong/core";
import { expect, test } from "vitest";
import { createGate } from "./gate.ts";
import { createHostApprovals } from "./host-approvals.ts";

test("after a hook ended the run no later turn executes anything, not only the next", async () => {
  const log: unknown[] = [];
  let asked = 0;
  const stopOnce = (): { stop?: string } => {
    asked += 1;
    return asked === 1 ? { stop: "enough" } : {};
  };
  const write = defineTool({
    name: "notes.write",
    description: "Write a note",
    input_schema: { type: "object" },
    handler: (input) => void log.push(input),
  });
  const run = await createKernel({ tools: [write] }).startRun({
    policy: { rules: [{ tool: "notes.write", decision: "allow" }] },
    hooks: [defineHook({ id: "stop", event: "PreToolUse", run: stopOnce })],
  });
  const gate = createGate(run);
  for (const id of [1, 2, 3]) {
    await gate.execute({ id: `c${id}`, name: "notes__write", arguments: { id } });
  }
  expect(log).toEqual([]);
});

test.each(["ask", "allow"] as const)(
  "a call that the host's user refused does not run, with a rule to %s, in a turn or alone",
  async (decision) => {
    const log: unknown[] = [];
    const write = defineTool({
      name: "notes.write",
      description: "Write a note",
      input_schema: { type: "object" },
      handler: (input) => void log.push(input),
    });
    const approvals = createHostApprovals();
    const run = await createKernel({ tools: [write] }).startRun({
      ask: approvals.ask,
      policy: { rules: [{ tool: "notes.write", decision }] },
    });
    const call = { id: "c1", name: "notes__write", arguments: {} };
    const gate = createGate(run, approvals);
    const refused = await gate.refuse(call, "not today");
    const pushed = await gate.execute({ ...call, id: "c2" }, { denied: { reason: "not today" } });
    const withoutApprovals = createGate(run).push({ ...call, id: "c3" }, { denied: {} });
    for (const { result } of [refused, pushed, await withoutApprovals.outcome]) {
      expect(result.status).toBe("rejected");
    }
    expect(refused.result.summary).toContain("not today");
    expect(log).toEqual([]);
  },
);

test("after the end of the run nothing is executed", async () => {
  const log: unknown[] = [];
  const read = defineTool({
    name: "notes.read",
    description: "Read a note",
    input_schema: { type: "object" },
    permission: "readonly",
    handler: () => log.push("read"),
  });
  const run = await createKernel({ tools: [read] }).startRun();
  run.end("completed");
  const { result } = await createGate(run).execute({
    id: "c1",
    name: "notes__read",
    arguments: {},
  });
  expect(result.status).toBe("aborted");
  expect(result.summary).toContain("the run has ended");
  expect(log).toEqual([]);
});
