// A session in the middle of its work, on a real kernel, for a crash to interrupt.

import assert from "node:assert/strict";
import type { OpenSession } from "@soong/store";
import { settled } from "./expect.ts";
import { kernelOn, type KernelOnStore } from "./kernel-run.ts";

export interface Interrupted {
  readonly kernel: KernelOnStore;
  readonly run_id: string;
  readonly child_id: string;
  readonly agent_id: string;
  readonly executed: ReadonlyMap<string, number>;
}

/** Two calls ended, a read and a write under way, two waiting for them, and a child with a call of its own. */
export async function interrupted(opened: OpenSession): Promise<Interrupted> {
  const kernel = await kernelOn(opened);
  const run = await kernel.startRun();
  const { run_id, agent_id } = run.identity;
  const first = run.openTurn();
  first.push({ id: "call_done", name: "demo.read", arguments: {} });
  first.end();
  await first.settled();
  const parentNodeId = first.lastNodeId;
  assert.ok(parentNodeId !== undefined);
  const turn = run.openTurn({ parentNodeId });
  // The second ends before the one its result hangs from, which never does.
  turn.push({ id: "call_read", name: "demo.hang_read", arguments: {} });
  turn.push({ id: "call_beside", name: "demo.read", arguments: {} });
  turn.end();
  const besideNodeId = turn.lastNodeId;
  assert.ok(besideNodeId !== undefined);
  const writes = run.openTurn({ parentNodeId: besideNodeId });
  writes.push({ id: "call_write", name: "demo.hang_write", arguments: {} });
  writes.push({ id: "call_queued", name: "demo.write", arguments: {} });
  writes.push({ id: "call_last", name: "demo.read", arguments: {} });
  writes.end();
  const child = await kernel.startRun({
    parent: { run_id, agent_id, policy: run.policy },
    role: "sub",
  });
  const ofChild = child.openTurn();
  ofChild.push({ id: "call_child", name: "demo.hang_read", arguments: {} });
  ofChild.end();
  await settled();
  await opened.journal.flush();
  const { run_id: child_id } = child.identity;
  return { kernel, run_id, child_id, agent_id, executed: new Map(kernel.executed) };
}
