import { createKernel, defineTool, type AnyTool } from "@soong/core";
import { describe, expect, test } from "vitest";
import { createGate, renderText, type CallOutcome } from "../kernel/index.ts";
import { createAnswerTurns, type AnswerTurns, type CallApproval } from "./answer-turns.ts";

const ids = { type: "object", properties: { id: { type: "string" } } } as const;

function defineTools(log: string[]): AnyTool[] {
  return [
    defineTool({
      name: "notes.read",
      description: "Read",
      input_schema: ids,
      permission: "readonly",
      concurrency_safe: true,
      handler: ({ id = "" }) => void log.push(`read ${id}`),
    }),
    defineTool({
      name: "notes.write",
      description: "Write",
      input_schema: ids,
      handler: ({ id = "" }) => {
        log.push(`write ${id}`);
        if (id === "bad") throw new Error("the disk is full");
      },
    }),
  ];
}

async function openTurns(): Promise<{ turns: AnswerTurns; log: string[] }> {
  const log: string[] = [];
  const run = await createKernel({ tools: defineTools(log) }).startRun({
    policy: { rules: [{ tool: "notes.*", decision: "allow" }] },
  });
  return { turns: createAnswerTurns(createGate(run)), log };
}

function execute(
  turns: AnswerTurns,
  name: string,
  id: string,
  place: { at: number; expected: number; answer?: string } | undefined,
  decide: () => Promise<CallApproval> = async () => ({}),
): Promise<CallOutcome> {
  return turns.execute({
    call: { id: `c${place?.at ?? id}`, name, arguments: { id } },
    place: place && { answer: "a", ...place },
    decide,
  });
}

describe("the calls of an answer", () => {
  test("run in its order, in any order of arrival", async () => {
    const { turns, log } = await openTurns();
    await Promise.all([
      execute(turns, "notes.read", "3", { at: 2, expected: 3 }),
      execute(turns, "notes.write", "2", { at: 1, expected: 3 }),
      execute(turns, "notes.read", "1", { at: 0, expected: 3 }),
    ]);
    expect(log).toEqual(["read 1", "write 2", "read 3"]);
  });

  test("are one turn: a write that fails stops what comes after it", async () => {
    const { turns, log } = await openTurns();
    const [, second] = await Promise.all([
      execute(turns, "notes.write", "bad", { at: 0, expected: 2 }),
      execute(turns, "notes.write", "2", { at: 1, expected: 2 }),
    ]);
    expect(log).toEqual(["write bad"]);
    expect(renderText(second)).toMatch(/^Not run, because notes\.write/);
  });

  test("do not wait for one that another middleware has answered", async () => {
    const { turns, log } = await openTurns();
    await execute(turns, "notes.read", "1", { at: 0, expected: 2 });
    expect(log).toEqual(["read 1"]);
  });

  test("do not wait for one that pauses, and that one does not run", async () => {
    const { turns, log } = await openTurns();
    const paused = execute(turns, "notes.write", "1", { at: 0, expected: 2 }, () =>
      Promise.reject(new Error("paused")),
    );
    const read = execute(turns, "notes.read", "2", { at: 1, expected: 2 });
    await expect(paused).rejects.toThrow("paused");
    await read;
    expect(log).toEqual(["read 2"]);
  });

  test("run once, also when their task is executed again", async () => {
    const { turns, log } = await openTurns();
    const first = await execute(turns, "notes.write", "1", { at: 0, expected: 1 });
    const again = await execute(turns, "notes.write", "1", { at: 0, expected: 1 });
    expect(log).toEqual(["write 1"]);
    expect(again).toBe(first);
  });

  test("run again in an answer that was edited, and in another one with the same ids", async () => {
    const { turns, log } = await openTurns();
    await execute(turns, "notes.write", "1", { at: 0, expected: 1 });
    await execute(turns, "notes.write", "2", { at: 0, expected: 1 });
    await execute(turns, "notes.write", "1", { at: 0, expected: 1, answer: "b" });
    expect(log).toEqual(["write 1", "write 2", "write 1"]);
  });

  test("do not run if the user refuses them, also where a rule has come to allow them", async () => {
    const { turns, log } = await openTurns();
    const { result } = await execute(
      turns,
      "notes.write",
      "1",
      { at: 0, expected: 1 },
      async () => ({ denied: { reason: "not now" } }),
    );
    expect(log).toEqual([]);
    expect(result.is_error).toBe(true);
  });

  test("are gathered by the tick where the loop does not say which answer they are of", async () => {
    const { turns, log } = await openTurns();
    await Promise.all([
      execute(turns, "notes.write", "bad", undefined),
      execute(turns, "notes.read", "2", undefined),
    ]);
    expect(log).toEqual(["write bad"]);
  });
});
