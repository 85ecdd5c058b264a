import { createKernel, type ToolCall } from "@soong/core";
import { expect, test } from "vitest";
import { createApprovalCheck } from "./approval-check.ts";
import type { HostApprovals } from "./host-approvals.ts";

test("calls that are asked about in one tick get their answers together, when the slowest plan is there", async () => {
  const plans = new Map<string, (isNeeded: boolean) => void>();
  const check = createApprovalCheck(await startRun(), {
    ...UNUSED,
    needsApproval: (_run, { id = "" }) =>
      new Promise((resolve) => {
        plans.set(id, resolve);
      }),
  });
  const answered: string[] = [];
  const asked = ["c1", "c2"].map(async (id) => {
    const isNeeded = await check(createCall(id));
    answered.push(`${id} ${isNeeded}`);
  });
  plans.get("c1")?.(false);
  await nextTick();
  expect(answered).toEqual([]);
  plans.get("c2")?.(true);
  await Promise.all(asked);
  expect(answered).toEqual(["c1 false", "c2 true"]);
});

test("a call that cannot be planned needs no approval: the kernel refuses it", async () => {
  const check = createApprovalCheck(await startRun(), {
    ...UNUSED,
    needsApproval: () => Promise.reject(new Error("the plan failed")),
  });
  expect(await check(createCall("c1"))).toBe(false);
});

const UNUSED: Omit<HostApprovals, "needsApproval"> = {
  ask: () => ({ decision: "deny" }),
  approve: () => {},
};

async function startRun() {
  return createKernel().startRun();
}

function createCall(id: string): ToolCall {
  return { id, name: "notes__read", arguments: {} };
}

async function nextTick(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
