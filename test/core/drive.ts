// Moving a held clock until something has happened, and tools whose calls a test ends by hand. A thing that
// never happens fails its test at once instead of hanging it.

import {
  createHeldClock,
  createKernel,
  createMemoryArtifacts,
  type AnyTool,
  type ConfigInput,
  type Fact,
  type FactType,
  type HeldClock,
  type Kernel,
  type Run,
  type Session,
  type ToolContext,
  type ToolResult,
  type Turn,
} from "@soong/core";
import { factsOfTypes } from "../facts.ts";
import { createSpyJournal, type SpyJournal } from "./spy-journal.ts";
import { START, type WorldOptions } from "./world.ts";

const HOUR = 3_600_000;

/** Moves time on until the work has settled, for an hour at the most. */
export async function drive<T>(clock: HeldClock, work: Promise<T>): Promise<T> {
  const waited = watch(work);
  await clock.settle();
  for (let passed = 0; waited.open && passed < HOUR; passed += 1000) await clock.advance(1000);
  if (waited.open) throw new Error("it has not happened within an hour");
  return work;
}

/** Settles the work without a millisecond passing. */
export async function atOnce<T>(clock: HeldClock, work: Promise<T>): Promise<T> {
  const waited = watch(work);
  // Hundreds of calls, ten at a time, are a longer chain of promises than the clock settles at once.
  for (let i = 0; waited.open && i < 10; i += 1) await clock.settle();
  if (waited.open) throw new Error("it takes time, and should not");
  return work;
}

function watch(work: Promise<unknown>): { open: boolean } {
  const state = { open: true };
  const close = (): void => {
    state.open = false;
  };
  work.then(close, close);
  return state;
}

export interface Stage {
  readonly clock: HeldClock;
  readonly kernel: Kernel;
  readonly session: Session;
  readonly run: Run;
  readonly journal: SpyJournal;
  readonly artifacts: ReturnType<typeof createMemoryArtifacts>;
  facts<T extends FactType = FactType>(...types: T[]): Fact<T>[];
  storyOf(tool_call_id: string): FactType[];
  /** Milliseconds since the stage was set. */
  elapsed(): number;
}

export interface StageOptions extends WorldOptions {
  readonly spy?: SpyJournal;
  readonly config?: ConfigInput;
  readonly clock?: HeldClock;
}

/** A world whose journal can be made to fail, opened on a moving clock: what is asked before a run may hang. */
export async function setStage(options: StageOptions = {}): Promise<Stage> {
  const { spy, clock = createHeldClock(START), ...rest } = options;
  const journal = spy ?? createSpyJournal();
  const artifacts = createMemoryArtifacts();
  let count = 0;
  const kernel = createKernel({
    clock,
    ids: { next: (prefix) => `${prefix}_${(count += 1)}` },
    tools: rest.tools,
    sources: rest.sources,
    config: rest.config,
  });
  const session = await drive(clock, kernel.openSession({ journal, artifacts, ...rest }));
  const run = await drive(clock, session.startRun(rest));
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
    elapsed: () => clock.now() - START,
  };
}

export interface HeldCall {
  readonly input: unknown;
  readonly context: ToolContext;
  finish(value: unknown): void;
  fail(error: unknown): void;
}

/** A readonly tool each of whose calls runs until the test ends it. */
export function heldTool(
  name: string,
  about: Partial<AnyTool> = {},
): { readonly tool: AnyTool; readonly calls: readonly HeldCall[] } {
  const calls: HeldCall[] = [];
  const tool: AnyTool = {
    name,
    description: `The tool ${name}, ended by hand`,
    input_schema: { type: "object" },
    permission: "readonly",
    concurrency_safe: true,
    handler: (input: unknown, context: ToolContext) =>
      new Promise<unknown>((finish, fail) => {
        calls.push({ input, context, finish, fail });
      }),
    ...about,
  };
  return { tool, calls };
}

/** A whole answer at once: a turn with these calls, whose ids are "1", "2", … */
export function pushAll(
  { run }: Stage,
  ...calls: (string | [name: string, input: object | string])[]
): Turn {
  const turn = run.openTurn();
  calls.forEach((call, i) => {
    const [name, input] = typeof call === "string" ? [call, {}] : call;
    turn.push({ id: `${i + 1}`, name, arguments: input });
  });
  turn.end();
  return turn;
}

export function statusesOf(results: readonly ToolResult[]): string[] {
  return results.map(({ status }) => status);
}
