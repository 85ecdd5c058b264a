import { createKernel, type ToolCall } from "@soong/core";
import { expect, test } from "vitest";
import { createApprovalPauses } from "./approval-pauses.ts";

const name = "notes__write";
const input = { id: 1 };

test("an execution after a pause is approved, once", async () => {
  const { pauses } = await openPauses(true);
  pauses.noteCall({ id: "c1", name, input });
  expect(await pauses.needsApproval(name, input)).toBe(true);
  expect(pauses.takeApproval("c1")).toBe(true);
  expect(pauses.takeApproval("c1")).toBe(false);
});

test("while a call waits, an execution with another id or without one is not approved", async () => {
  const { pauses } = await openPauses(true);
  pauses.noteCall({ id: "c1", name, input });
  await pauses.needsApproval(name, input);
  expect(pauses.takeApproval(undefined)).toBe(false);
  expect(pauses.takeApproval("")).toBe(false);
  expect(pauses.takeApproval("c2")).toBe(false);
  expect(pauses.takeApproval("c1")).toBe(true);
});

test("a call that was not noted does not pause, and is not approved", async () => {
  const { pauses, planned } = await openPauses(true);
  pauses.noteCall({ id: "c1", name, input });
  expect(await pauses.needsApproval(name, { id: 2 })).toBe(false);
  expect(await pauses.needsApproval("notes__delete", input)).toBe(false);
  expect(planned).toEqual([]);
  expect(pauses.takeApproval("c1")).toBe(false);
});

test("asked again when it resumes, it keeps the plan that the user was shown", async () => {
  const { pauses, planned } = await openPauses(true);
  pauses.noteCall({ id: "c1", name, input: { id: 1, to: "a" } });
  await pauses.needsApproval(name, { id: 1, to: "a" });
  // Out of a store, with its members in another order.
  pauses.noteCall({ id: "c1", name, input: { to: "a", id: 1 } });
  expect(await pauses.needsApproval(name, { to: "a", id: 1 })).toBe(true);
  expect(planned).toEqual([{ id: "c1", name, arguments: { id: 1, to: "a" } }]);
  expect(pauses.takeApproval("c1")).toBe(true);
});

test("a call is the same to Mastra with and without the data that resumes it", async () => {
  const { pauses } = await openPauses(true);
  pauses.noteCall({ id: "c1", name, input: { ...input, resumeData: { approved: true } } });
  expect(await pauses.needsApproval(name, input)).toBe(true);
});

test("the model calls the same again: that is planned anew", async () => {
  const { pauses, planned } = await openPauses(true);
  for (const id of ["c1", "c2"]) {
    pauses.noteCall({ id, name, input });
    await pauses.needsApproval(name, input);
  }
  expect(planned.map(({ id }) => id)).toEqual(["c1", "c2"]);
});

test("of two calls that are alike, the first is declined and the second approved", async () => {
  const { pauses, planned } = await openPauses(true);
  for (const id of ["c1", "c2"]) pauses.noteCall({ id, name, input });
  const asked = ["c1", "c2"].map(async () => pauses.needsApproval(name, input));
  expect(await Promise.all(asked)).toEqual([true, true]);
  expect(planned.map(({ id }) => id)).toEqual(["c1", "c2"]);
  expect(pauses.takeApproval("c2")).toBe(true);
  expect(pauses.takeDecline("c1")).toBe(true);
  expect(pauses.takeDecline("c1")).toBe(false);
  expect(pauses.takeDecline("c2")).toBe(false);
});

test("at the next request only calls that wait for the user are kept", async () => {
  const { pauses, planned } = await openPauses(true);
  pauses.noteCall({ id: "c1", name, input });
  await pauses.needsApproval(name, input);
  pauses.noteCall({ id: "c2", name, input: { id: 2 } });
  pauses.forgetCalls();
  expect(await pauses.needsApproval(name, { id: 2 })).toBe(false);
  expect(planned.map(({ id }) => id)).toEqual(["c1"]);
  expect(pauses.takeApproval("c1")).toBe(true);
});

test("a call that is being planned at the next request of another loop is kept", async () => {
  const { pauses } = await openPauses(true);
  pauses.noteCall({ id: "c1", name, input });
  const asked = pauses.needsApproval(name, input);
  pauses.forgetCalls();
  expect(await asked).toBe(true);
  expect(pauses.takeApproval("c1")).toBe(true);
});

test("a call that cannot be planned does not pause", async () => {
  const { pauses } = await openPauses(new Error("the plan failed"));
  pauses.noteCall({ id: "c1", name, input });
  expect(await pauses.needsApproval(name, input)).toBe(false);
  expect(pauses.takeDecline("c1")).toBe(false);
});

async function openPauses(isNeeded: boolean | Error) {
  const planned: ToolCall[] = [];
  const pauses = createApprovalPauses(await createKernel().startRun(), {
    ask: () => ({ decision: "deny" }),
    needsApproval: async (_run, call) => {
      if (isNeeded instanceof Error) throw isNeeded;
      planned.push(call);
      return isNeeded;
    },
    approve: () => {},
  });
  return { pauses, planned };
}
