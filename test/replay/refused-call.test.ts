// A call that the user of a host refused before the kernel got it: validated, recorded, not executed, and the same in a replay.

import { createKernel, createMemoryJournal, defineTool } from "@soong/core";
import { createReplaySource, replayRun } from "@soong/replay";
import { expect, test } from "vitest";
import { verifies } from "#laws";

test("does not run, whatever the rules say, and skips the writes behind it", async () => {
  verifies("PERM-2", "REPLAY-1");
  const log: unknown[] = [];
  const save = defineTool({
    name: "notes.save",
    description: "Save a note",
    input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    handler: ({ id }) => void log.push(id),
  });
  const journal = createMemoryJournal();
  const run = await createKernel({ tools: [save] }).startRun({
    journal,
    policy: { rules: [{ tool: "notes.save", decision: "allow" }] },
    secrets: [{ name: "TOKEN", value: "5up3rs3cr3t" }],
  });
  const refused = { reason: "not with 5up3rs3cr3t" };
  const [first, second] = await run.execute([
    { id: "c1", name: "notes__save", arguments: '{"id":1}', refused },
    { id: "c2", name: "notes__save", arguments: '{"id":2}' },
  ]);
  const [invalid] = await run.execute([
    { id: "c3", name: "notes__save", arguments: '{"id":"x"}', refused },
  ]);
  run.end("completed");

  expect(first).toMatchObject({ status: "rejected", error: { code: "rejected_by_user" } });
  expect(first?.summary).toBe("The user said no to notes.save: not with [redacted:TOKEN]");
  expect(second?.status).toBe("skipped");
  expect(invalid?.error?.error_class).toBe("schema_validation_failed");
  expect(log).toEqual([]);
  expect(JSON.stringify(journal.facts)).not.toContain("5up3rs3cr3t");

  const source = createReplaySource(journal, run.session.artifacts);
  const { outcome } = await replayRun({ source, run_id: run.identity.run_id });
  expect(outcome).toBe("same");
});
