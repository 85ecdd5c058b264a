// The crash test's own tools: one that notes down that it happened, with an instant to be killed at before and
// after, some whose output is kept aside, and some that never end.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyTool, ToolContext } from "@soong/core";
import type { Instant } from "./crash-job.ts";
import { LEDGER } from "./work-effects.ts";

/** More than this is kept as an artifact. */
export const INLINE_BYTES = 4096;

export function crashTools(project: string, at?: (instant: Instant) => void): AnyTool[] {
  const never = (): Promise<never> => new Promise(() => {});
  const writes = { permission: "write" } as const;
  const reads = { permission: "readonly", concurrency_safe: true } as const;
  return [
    { ...tool("crash.tally"), ...writes, handler: noteDown },
    { ...tool("crash.asks"), ...writes, handler: noteDown },
    { ...tool("crash.keeps"), ...reads, handler: () => "kept ".repeat(INLINE_BYTES) },
    { ...tool("crash.streams"), ...reads, handler: stream },
    { ...tool("crash.waits"), ...reads, handler: never },
    { ...tool("crash.never"), ...writes, handler: never },
  ];

  function noteDown(_input: unknown, { toolCallId }: ToolContext): string {
    at?.("effect.before");
    appendFileSync(join(project, LEDGER), `${toolCallId}\n`);
    at?.("effect.after");
    return "noted";
  }

  async function stream(_input: unknown, { artifacts }: ToolContext): Promise<string> {
    const sink = artifacts.open({ media_type: "text/plain", name: "stream.txt" });
    for (let piece = 0; piece < 4; piece += 1) await sink.write("piece ".repeat(500));
    await sink.close();
    return "streamed";
  }
}

function tool(name: string): Pick<AnyTool, "name" | "description" | "input_schema"> {
  return { name, description: `${name}, for the crash test`, input_schema: { type: "object" } };
}
