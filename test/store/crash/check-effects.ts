// What has to be true of the world outside: each write happened at most once, none that says it did not
// happen, exactly once what succeeded, and nothing before its start was on record.

import assert from "node:assert/strict";
import type { CallRecord } from "@soong/store";
import { effectsIn } from "./work-effects.ts";

const LEAVES_A_MARK: ReadonlySet<string> = new Set([
  "code.write_file",
  "code.edit_file",
  "code.run_command",
  "crash.tally",
  "crash.asks",
]);

export function checkEffects(project: string, calls: readonly CallRecord[]): void {
  const effects = effectsIn(project);
  for (const { tool_call_id, tool_name, started_seq, status } of calls) {
    const times = effects.get(tool_call_id) ?? 0;
    effects.delete(tool_call_id);
    if (!LEAVES_A_MARK.has(tool_name)) continue;
    assert.ok(times <= 1, `call ${tool_call_id} happened ${times} times`);
    if (status === "succeeded") {
      assert.equal(times, 1, `call ${tool_call_id} succeeded and did not happen`);
    }
    if (started_seq === undefined || status === "skipped") {
      assert.equal(times, 0, `call ${tool_call_id} happened, and nobody recorded its start`);
    }
  }
  assert.deepEqual([...effects.keys()], [], "calls that happened without being on record");
}
