// REPLAY-3 over random runs: the script of a run, printed, read and played, has the calls end as they did. What a script
// cannot carry is named in the notes. The cases are always the same ones.

import { verifies } from "#laws";
import {
  createHeldClock,
  defineHook,
  defineTool,
  isTerminalFact,
  type Clock,
  ToolFailure,
  type AnyTool,
  type Fact,
} from "@soong/core";
import { parseScript, printScript, scriptedModel } from "@soong/agent";
import { createReplaySource, exportRunScript } from "@soong/replay";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  calls,
  done,
  failed,
  openStage,
  says,
  type Answer,
  type Step,
} from "../agent/loop-stage.ts";

interface Call {
  readonly tool: "t__read" | "t__write" | "t__command" | "t__slow" | "no__such";
  readonly input: { readonly fails: boolean; readonly pre: "pass" | "deny" | "stop" } | string;
  readonly id: string | undefined;
}

interface RandomAnswer {
  readonly parts: readonly (Call | string)[];
  readonly end: "tool_use" | "max_tokens" | "overloaded" | "rate_limited" | "disconnect";
}

interface RandomRun {
  readonly answers: readonly RandomAnswer[];
  readonly early: "none" | "readonly" | "all";
  /** What a user did while it continued. */
  readonly user: "nothing" | "abort";
}

function mostly<T>(first: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(first) },
    { weight: 2, arbitrary: fc.constantFrom(...others) },
  );
}

const call: fc.Arbitrary<Call> = fc.record({
  tool: fc.constantFrom("t__read", "t__write", "t__command", "t__slow", "no__such"),
  input: fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        fails: mostly(false, true),
        pre: mostly<"pass" | "deny" | "stop">("pass", "deny", "stop"),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom("{", "[]", '{"fails":"soon"}') },
  ),
  id: fc.constantFrom(undefined, "a", "b", "c"),
});

const answer: fc.Arbitrary<RandomAnswer> = fc.record({
  parts: fc.array(fc.oneof({ weight: 4, arbitrary: call }, fc.constantFrom("Well.", "So:")), {
    minLength: 1,
    maxLength: 6,
  }),
  end: mostly<RandomAnswer["end"]>(
    "tool_use",
    "max_tokens",
    "overloaded",
    "rate_limited",
    "disconnect",
  ),
});

const anyRun: fc.Arbitrary<RandomRun> = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 3 }),
  early: fc.constantFrom("readonly", "none", "all"),
  user: mostly<RandomRun["user"]>("nothing", "abort"),
});

function tool(name: string, about: Partial<AnyTool>, wait?: () => Promise<void>): AnyTool {
  return {
    ...defineTool({
      name,
      description: `The tool ${name}`,
      input_schema: { type: "object", properties: { fails: { type: "boolean" } } },
      async handler({ fails }) {
        await wait?.();
        if (fails === true) throw new ToolFailure({ code: "by_design", message: "by design" });
        return "done";
      },
    }),
    ...about,
  };
}

const reads = { permission: "readonly", concurrency_safe: true } as const;

function tools(wait: () => Promise<void>): AnyTool[] {
  return [
    tool("t.read", reads),
    tool("t.write", { permission: "write" }),
    tool("t.command", { ...reads, on_sibling_failure: "cancel_siblings" }),
    tool("t.slow", reads, wait),
  ];
}

const guard = defineHook({
  id: "guard",
  event: "PreToolUse",
  run({ input }) {
    const { pre } = input as { pre?: string };
    if (pre === "deny") return { decision: "deny", reason: "not that" };
    return pre === "stop" ? { stop: "enough" } : {};
  },
});

const policy = { rules: [{ tool: "t.*", decision: "allow" as const }] };

function written({ parts, end }: RandomAnswer): Answer {
  const steps: Step[] = parts.map((part) =>
    typeof part === "string" ? says(part) : calls(part.tool, part.input, part.id),
  );
  const last = end === "tool_use" || end === "max_tokens" ? done(end) : failed(end);
  return [...steps, last];
}

const DONE: readonly Answer[] = Array.from({ length: 8 }, () => [says("Done."), done()]);

/** The clock of the stage, which is made after tools and model. */
let held: Clock = createHeldClock();
const clock: Clock = {
  now: () => held.now(),
  monotonic: () => held.monotonic(),
  after: (ms, go) => held.after(ms, go),
};
const slow = (): Promise<void> =>
  new Promise((resolve) => {
    clock.after(50, resolve);
  });

async function record({ answers, early, user }: RandomRun) {
  const stage = await openStage([...answers.map(written), ...DONE], {
    tools: tools(slow),
    config: { tools: { early_start: early } },
    sessionOptions: { policy, hooks: [guard] },
  });
  held = stage.clock;
  const run = stage.conversation.send("go");
  if (user === "abort") {
    await stage.clock.advance(20);
    void run.abort("enough");
  }
  await stage.finish(run);
  const source = createReplaySource(stage.journal, stage.session.artifacts);
  return { facts: stage.journal.facts, source, run_id: await run.run_id };
}

async function play(text: string, { early }: RandomRun): Promise<readonly Fact[]> {
  const parsed = parseScript(text, "run.yaml");
  if (!parsed.ok) throw new Error(parsed.problems[0]?.message);
  const model = scriptedModel(parsed.script, { clock });
  const stage = await openStage([], {
    models: () => [model],
    idPrefix: "again_",
    tools: tools(slow),
    config: { tools: { early_start: early } },
    sessionOptions: { policy, hooks: model.hooks ?? [] },
  });
  held = stage.clock;
  await stage.ask("go");
  return stage.journal.facts;
}

/** How each call ended, in the order they were made, and the run. */
function endsOf(facts: readonly Fact[]): unknown[] {
  const made = facts.filter(({ type }) => type === "tool.requested");
  const ends = made.map(({ tool_call_id, tool_name }) => {
    const end = facts.filter(isTerminalFact).find((fact) => fact.tool_call_id === tool_call_id);
    const { status, error, metadata } = end?.data.result ?? {};
    return [tool_name, metadata?.discarded_status ?? status, error?.code];
  });
  const end = facts.findLast(({ type }) => type.startsWith("run."));
  return [...ends, end?.type];
}

const RUNS = process.env["SOONG_TEST_FULL"] === "1" ? 2_000 : 400;
const SEED = 7;

it(
  "plays random runs to the same ends, or says what it cannot carry",
  { timeout: 600_000 },
  async () => {
    verifies("REPLAY-3");
    const wrong: unknown[] = [];
    let carried = 0;
    for (const [i, given] of fc.sample(anyRun, { numRuns: RUNS, seed: SEED }).entries()) {
      const kept = await record(given);
      const { script, notes } = await exportRunScript(kept);
      const was = endsOf(kept.facts);
      const now = endsOf(await play(printScript(script), given));
      const isSame = JSON.stringify(was) === JSON.stringify(now);
      if (isSame) carried += 1;
      else if (notes.length === 0) wrong.push({ case: i, given: JSON.stringify(given), was, now });
    }
    expect(wrong).toEqual([]);
    expect(carried).toBeGreaterThan(RUNS * 0.8);
  },
);
