import { verifies } from "#laws";
import { createKernel, defineTool } from "@soong/core";
import { expect, test } from "vitest";
import { createGate } from "./gate.ts";
import { createHostApprovals } from "./host-approvals.ts";

const CALL = { id: "c1", name: "notes__write", arguments: '{"id":1}' };

test("a write needs the host's approval, and runs when its user gave it", async () => {
  verifies("MODEL-6");
  const { run, approvals, gate, log } = await openHost();
  expect(await approvals.needsApproval(run, CALL)).toBe(true);
  const { result } = await gate.execute(CALL, { isApproved: true });
  expect(result.status).toBe("succeeded");
  expect(log).toEqual([1]);
});

test("a read, an unknown tool and invalid arguments need none: the kernel answers them", async () => {
  const { run, approvals } = await openHost();
  const calls = [
    { id: "c1", name: "notes__read", arguments: '{"id":1}' },
    { id: "c2", name: "notes__raed", arguments: "{}" },
    { id: "c3", name: "notes__write", arguments: "no JSON" },
  ];
  const needs = await Promise.all(calls.map((call) => approvals.needsApproval(run, call)));
  expect(needs).toEqual([false, false, false]);
});

test("a write that no one approved is denied", async () => {
  verifies("MODEL-6");
  const { gate, log } = await openHost();
  const { result } = await gate.execute(CALL);
  expect(result.status).toBe("denied");
  expect(log).toEqual([]);
});

test("a write that the user refused is rejected, with the user's reason", async () => {
  const { gate, log } = await openHost();
  const { result } = await gate.execute(CALL, { denied: { reason: "not on Fridays" } });
  expect(result.status).toBe("rejected");
  expect(result.summary).toContain("not on Fridays");
  expect(log).toEqual([]);
});

test("an approval is for the plan that was shown: another input under the same id is denied", async () => {
  verifies("MODEL-6");
  const { run, approvals, gate, log } = await openHost();
  await approvals.needsApproval(run, CALL);
  const other = { ...CALL, arguments: '{"id":2}' };
  const { result } = await gate.execute(other, { isApproved: true });
  expect(result.status).toBe("denied");
  expect(result.summary).toContain("has changed since it was approved");
  expect(log).toEqual([]);
});

test("an approval is for one execution, until the host pauses for the call again", async () => {
  verifies("MODEL-6");
  const { run, approvals, gate, log } = await openHost();
  await approvals.needsApproval(run, CALL);
  await gate.execute(CALL, { isApproved: true });
  const replayed = await gate.execute(CALL, { isApproved: true });
  expect(replayed.result.status).toBe("denied");
  expect(replayed.result.summary).toContain("was used before");
  await approvals.needsApproval(run, CALL);
  await gate.execute(CALL, { isApproved: true });
  expect(log).toEqual([1, 1]);
});

test.each(["c1", undefined])(
  "an approval is for the plan that was shown, also where the id %s was used before or is missing",
  async (id) => {
    verifies("MODEL-6");
    const { run, approvals, gate, log } = await openHost();
    await gate.execute({ ...CALL, id: "c1" }, { isApproved: true });
    const shown = { ...CALL, id };
    await approvals.needsApproval(run, shown);
    const other = { ...shown, arguments: '{"id":2}' };
    const { result } = await gate.execute(id === undefined ? shown : other, { isApproved: true });
    expect(result.status).toBe(id === undefined ? "succeeded" : "denied");
    expect(log).toEqual(id === undefined ? [1, 1] : [1]);
  },
);

test("an approval is for one call: the next one under another id is denied", async () => {
  const { gate, log } = await openHost();
  await gate.execute(CALL, { isApproved: true });
  const { result } = await gate.execute({ ...CALL, id: "c2" });
  expect(result.status).toBe("denied");
  expect(log).toEqual([1]);
});

test("after a restart the host's own record is enough", async () => {
  verifies("MODEL-6");
  const before = await openHost();
  expect(await before.approvals.needsApproval(before.run, CALL)).toBe(true);
  const after = await openHost();
  const { result } = await after.gate.execute(CALL, { isApproved: true });
  expect(result.status).toBe("succeeded");
  expect(after.log).toEqual([1]);
});

test("approvals of parallel calls do not mix", async () => {
  verifies("MODEL-6");
  const { run, approvals, gate, log } = await openHost();
  const calls = [1, 2, 3].map((id) => ({ id: `c${id}`, name: "notes__write", arguments: { id } }));
  await Promise.all(calls.map((call) => approvals.needsApproval(run, call)));
  const outcomes = await Promise.all(
    calls.map((call) => gate.execute(call, { isApproved: call.id !== "c2" })),
  );
  expect(log.filter((id) => id === 2)).toEqual([]);
  expect(outcomes[1]?.result.status).toBe("denied");
  expect(outcomes[0]?.result.status).toBe("succeeded");
});

async function openHost() {
  const log: number[] = [];
  const schema = {
    type: "object",
    properties: { id: { type: "integer" } },
    required: ["id"],
  } as const;
  const tools = [
    defineTool({
      name: "notes.read",
      description: "Read a note",
      input_schema: schema,
      permission: "readonly",
      handler: ({ id }) => `note ${id}`,
    }),
    defineTool({
      name: "notes.write",
      description: "Write a note",
      input_schema: schema,
      handler: ({ id }) => {
        log.push(id);
        return `wrote ${id}`;
      },
    }),
  ];
  const approvals = createHostApprovals();
  const run = await createKernel({ tools }).startRun({ ask: approvals.ask });
  return { run, approvals, gate: createGate(run, approvals), log };
}
