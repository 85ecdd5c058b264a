import { createKernel, type ToolCall } from "@soong/core";
import { expect, test } from "vitest";
import { createApprovalPauses } from "./approval-pauses.ts";

test("an execution after a pause is approved, once", async () => {
  const { pauses } = await openPauses(true);
  pauses.noteCall("notes__write", '{"id":1}', "c1");
  expect(await pauses.needsApproval("notes__write", { id: 1 })).toBe(true);
  expect(pauses.takeApproval("notes__write", { id: 1 }, "c1")).toBe(true);
  expect(pauses.takeApproval("notes__write", { id: 1 }, "c1")).toBe(false);
});

test("an execution that was not paused for is not approved", async () => {
  const { pauses } = await openPauses(true);
  await pauses.needsApproval("notes__write", { id: 1 });
  expect(pauses.takeApproval("notes__write", { id: 2 }, "c2")).toBe(false);
  expect(pauses.takeApproval("notes__delete", { id: 1 }, "c3")).toBe(false);
});

test("asked again when it resumes, it keeps the plan that the user was shown", async () => {
  const { pauses, planned } = await openPauses(true);
  pauses.noteCall("notes__write", '{"id":1}', "c1");
  await pauses.needsApproval("notes__write", { id: 1 });
  await pauses.needsApproval("notes__write", { id: 1 });
  expect(planned).toEqual([{ id: "c1", name: "notes__write", arguments: { id: 1 } }]);
});

test("the model calls the same again: that is planned anew", async () => {
  const { pauses, planned } = await openPauses(true);
  for (const id of ["c1", "c2"]) {
    pauses.noteCall("notes__write", '{"id":1}', id);
    await pauses.needsApproval("notes__write", { id: 1 });
  }
  expect(planned.map(({ id }) => id)).toEqual(["c1", "c2"]);
});

test("after a restart the call is planned without its id, and its execution is approved", async () => {
  const { pauses, planned } = await openPauses(true);
  expect(await pauses.needsApproval("notes__write", { id: 1 })).toBe(true);
  expect(planned).toEqual([{ name: "notes__write", arguments: { id: 1 } }]);
  expect(pauses.takeApproval("notes__write", { id: 1 }, "c1")).toBe(true);
});

test("a result of a call that was paused for and not executed is a decline, once", async () => {
  const { pauses } = await openPauses(true);
  for (const id of ["c1", "c2"]) pauses.noteCall("notes__write", '{"id":1}', id);
  await pauses.needsApproval("notes__write", { id: 1 });
  pauses.takeApproval("notes__write", { id: 1 }, "c1");
  await pauses.needsApproval("notes__write", { id: 1 });
  expect(pauses.takeDecline("notes__write", { id: 1 }, "c1")).toBe(false);
  expect(pauses.takeDecline("notes__write", { id: 1 }, "c2")).toBe(true);
  expect(pauses.takeDecline("notes__write", { id: 1 }, "c2")).toBe(false);
});

test("a call that cannot be planned does not pause", async () => {
  const { pauses } = await openPauses(new Error("the plan failed"));
  expect(await pauses.needsApproval("notes__write", { id: 1 })).toBe(false);
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
