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

test.each([
  ["ask", "rejected"],
  ["allow", "aborted"],
] as const)(
  "a call that the host's user refused does not run, whether the rule is to %s or not",
  async (decision, status) => {
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
    const { result } = await createGate(run, approvals).refuse(call, "not today");
    expect(result.status).toBe(status);
    expect(result.summary).toContain("not today");
    expect(log).toEqual([]);
  },
);
