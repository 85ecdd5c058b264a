// What every call must end in, whatever went into it: one clear result, on record, and nothing left behind.

import { isTerminalFact, type AnyTool, type ToolCall, type ToolResult } from "@soong/core";
import { expect } from "vitest";
import { drive, setStage, type Stage, type StageOptions } from "./drive.ts";
import { reader } from "./world.ts";

export interface ClearEnd {
  readonly result: ToolResult;
  readonly stage: Stage;
}

/** Makes one call on a stage of its own and holds its end against the list. */
export async function callBadly(
  about: Partial<AnyTool> = {},
  options: StageOptions & { call?: Partial<ToolCall> } = {},
): Promise<ClearEnd> {
  const { call, ...rest } = options;
  return quietly(async () => {
    const stage = await setStage({ tools: [reader("a.tool", 0, about)], ...rest });
    const given: ToolCall = { id: "1", name: "a.tool", arguments: "{}", ...call };
    const results = await drive(stage.clock, stage.run.execute([given]));
    expect(results).toHaveLength(1);
    const result = results[0] as ToolResult;
    await expectClearEnd(stage, result);
    return { result, stage };
  });
}

export async function expectClearEnd(stage: Stage, result: ToolResult): Promise<void> {
  await stage.clock.settle();
  expect(stage.clock.pending, "timers left behind").toBe(0);
  const own = (): ReturnType<Stage["facts"]> =>
    stage.facts().filter(({ tool_call_id }) => tool_call_id === result.tool_call_id);
  const ends = own().filter(isTerminalFact);
  expect(ends).toHaveLength(1);
  expect(ends[0]?.data.result).toEqual(result);
  expect(own()[0]?.type).toBe("tool.requested");
  expect(result.content.length).toBeGreaterThan(0);
  expect(JSON.parse(JSON.stringify(result)), "the result is JSON").toEqual(result);
  expect(result.is_error).toBe(result.error !== undefined);
  if (result.error !== undefined) expectClearError(result.error);
  const before = own().length;
  await stage.clock.advance(1_000_000);
  const later = own()
    .slice(before)
    .map(({ type }) => type);
  expect(later.filter((type) => type !== "tool.late")).toEqual([]);
}

function expectClearError({ code, message }: NonNullable<ToolResult["error"]>): void {
  expect(code).toMatch(/^[a-z_]+$/);
  // That would be a fault of the kernel, not of what came in.
  expect(code).not.toBe("internal_error");
  expect(typeof message).toBe("string");
  expect(message.trim()).not.toBe("");
  expect(message.length).toBeLessThan(10_000);
  expect(message, "no stack trace").not.toMatch(/\n\s+at\s|\.ts:\d+|node:internal/);
  expect(message).not.toContain("[object Object]");
}

/** Fails when a promise was rejected and no one listened: in Node that ends the process. */
export async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const others = process.listeners("unhandledRejection");
  const unheard: unknown[] = [];
  const listen = (reason: unknown): void => void unheard.push(reason);
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", listen);
  try {
    const value = await work();
    await turnOfTheLoop();
    expect(unheard, "rejections nobody heard").toEqual([]);
    return value;
  } finally {
    await turnOfTheLoop();
    process.off("unhandledRejection", listen);
    for (const other of others) process.on("unhandledRejection", other);
  }
}

/** Node looks for unheard rejections when the microtasks are done. */
function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
