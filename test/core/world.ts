// A kernel with a held clock, counted ids and a journal to look into: what the tests of the kernel stand on.

import {
  createHeldClock,
  createKernel,
  createMemoryArtifacts,
  createMemoryJournal,
  type AnyTool,
  type ConfigInput,
  type Fact,
  type FactType,
  type HeldClock,
  type Kernel,
  type MemoryJournal,
  type Run,
  type RunOptions,
  type Session,
  type SessionOptions,
  type ToolCall,
  type ToolResult,
  type ToolSource,
} from "@soong/core";
import { factsOfTypes } from "../facts.ts";
import { onTestFinished } from "vitest";

export interface WorldOptions extends SessionOptions, RunOptions {
  readonly tools?: readonly AnyTool[];
  readonly sources?: readonly ToolSource[];
  readonly config?: ConfigInput;
}

export interface World {
  readonly clock: HeldClock;
  readonly kernel: Kernel;
  readonly session: Session;
  readonly run: Run;
  readonly journal: MemoryJournal;
  readonly artifacts: ReturnType<typeof createMemoryArtifacts>;
  /** All facts so far, or those of these types. */
  facts<T extends FactType = FactType>(...types: T[]): Fact<T>[];
  /** The types of the facts of one call, in order. */
  storyOf(tool_call_id: string): FactType[];
  /** Executes calls and moves time on until all have their results. */
  execute(...calls: ToolCall[]): Promise<ToolResult[]>;
}

export const START = Date.UTC(2026, 0, 1);

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const clock = createHeldClock(START);
  const journal = createMemoryJournal();
  const artifacts = createMemoryArtifacts();
  let count = 0;
  const kernel = createKernel({
    clock,
    ids: { next: (prefix) => `${prefix}_${(count += 1)}` },
    tools: options.tools,
    sources: options.sources,
    config: options.config,
  });
  const session = await kernel.openSession({ journal, artifacts, ...options });
  const run = await session.startRun(options);
  return {
    clock,
    kernel,
    session,
    run,
    journal,
    artifacts,
    facts: (...types) => factsOfTypes(journal.facts, ...types),
    storyOf: (tool_call_id) =>
      journal.facts.filter((fact) => fact.tool_call_id === tool_call_id).map(({ type }) => type),
    async execute(...calls) {
      const state: { results?: ToolResult[] } = {};
      const executing = run.execute(calls).then((settled) => {
        state.results = settled;
      });
      for (let i = 0; state.results === undefined && i < 200; i += 1) await clock.advance(10_000);
      await executing;
      return state.results ?? [];
    },
  };
}

/** A readonly, concurrency-safe tool that takes some time and answers with its input. */
export function reader(name: string, ms = 0, about: Partial<AnyTool> = {}): AnyTool {
  return tool(name, { permission: "readonly", concurrency_safe: true, ...about }, ms);
}

/** A tool that writes, takes some time and answers with its input. */
export function writer(name: string, ms = 0, about: Partial<AnyTool> = {}): AnyTool {
  return tool(name, { permission: "write", ...about }, ms);
}

export const allowAll = { rules: [{ tool: "*", decision: "allow" as const, reason: "test" }] };

/** Lets the handlers of this test take their time by this clock; without, they take none. */
export function takeTimeBy(clock: HeldClock): void {
  time.clock = clock;
  onTestFinished(() => {
    time.clock = undefined;
  });
}

const time: { clock: HeldClock | undefined } = { clock: undefined };

export function pause(clock: HeldClock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}

function tool(name: string, about: Partial<AnyTool>, ms: number): AnyTool {
  return {
    name,
    description: `The tool ${name}, for tests`,
    input_schema: { type: "object" },
    handler: async (input: unknown) => {
      if (ms > 0 && time.clock !== undefined) await pause(time.clock, ms);
      return input;
    },
    ...about,
  };
}

export function textOf(result: ToolResult | undefined): string {
  return (result?.content ?? [])
    .map((block) => (block.type === "text" ? block.text : JSON.stringify(block)))
    .join("\n");
}
