// A session that another process may have taken over: its runs end at once, whatever they are at.

import { createMemoryJournal, defineTool, SoongError, type Journal } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { calls, done, openStage, says, type LoopStage, type StageOptions } from "./loop-stage.ts";
import { slowTool } from "./loop-tools.ts";

test("a run whose session is lost while the model streams reads no more of the stream", async () => {
  verifies("LOOP-2", "STORE-3");
  const { stage, lose } = await openLosable([[says("Half"), { wait: 1e6 }, done()]]);
  const run = stage.conversation.send("go");
  await stage.clock.advance(100);
  lose();
  expect(await run.end).toMatchObject({
    reason: "failed",
    error: {
      code: "journal_unavailable",
      message: expect.stringContaining("taken over") as string,
    },
  });
  expect(stage.clock.pending).toBe(0);
});

test("a run whose session is lost while a call runs stops the call", async () => {
  verifies("LOOP-2", "STORE-3");
  const { stage, lose } = await openLosable([[calls("a__slow", {}, "1"), done("tool_use")]], {
    tools: [slowTool(() => stage.clock, "a.slow", 1e6)],
  });
  const run = stage.conversation.send("go");
  await stage.clock.advance(100);
  lose();
  expect(await run.end).toMatchObject({ reason: "failed", error: { code: "journal_unavailable" } });
  const next = await stage.conversation.send("again").end;
  expect(next).toMatchObject({ reason: "failed", error: { code: "journal_unavailable" } });
});

test("progress that finds the session lost ends the run, and throws nothing into the tool's own timer", async () => {
  verifies("LOOP-2", "STORE-3");
  let report = (): void => {};
  const tool = defineTool({
    name: "a.tells",
    description: "Reports when a timer of its own fires",
    input_schema: { type: "object" },
    permission: "readonly",
    handler: async (_input, context) => {
      report = () => context.progress({ message: "half" });
      await new Promise(() => {});
    },
  });
  const { stage, loseAtNext } = await openLosable(
    [[calls("a__tells", {}, "1"), done("tool_use")]],
    { tools: [tool] },
  );
  const run = stage.conversation.send("go");
  await stage.clock.advance(100);
  loseAtNext();
  expect(report).not.toThrow();
  await stage.clock.advance(60_000);
  expect(await run.end).toMatchObject({ reason: "failed", error: { code: "journal_unavailable" } });
});

async function openLosable(
  answers: Parameters<typeof openStage>[0],
  options: StageOptions = {},
): Promise<{ stage: LoopStage; lose: () => void; loseAtNext: () => void }> {
  const lost = new AbortController();
  const memory = createMemoryJournal();
  const lose = (): void => lost.abort(new SoongError("session_lost", "It was taken over."));
  /** As of a process that was suspended: whoever writes first notices. */
  let isLate = false;
  const journal: Journal = {
    append(entry) {
      if (isLate) lose();
      lost.signal.throwIfAborted();
      memory.append(entry);
    },
    flush: async () => lost.signal.throwIfAborted(),
    read: (after, limit) => memory.read(after, limit),
    lost: lost.signal,
  };
  const stage = await openStage(answers, { ...options, sessionOptions: { journal } });
  return { stage, lose, loseAtNext: () => void (isLate = true) };
}
