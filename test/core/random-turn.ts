// Random turns: calls whose input says how each stage of theirs behaves, and the steps of a stream that brings
// them. One kernel per configuration serves all cases; each case has a session of its own.

import {
  createHeldClock,
  createKernel,
  defineHook,
  toolResult,
  type AnyHook,
  type AnyTool,
  type HeldClock,
  type Kernel,
  type PermissionAnswer,
  type Plan,
  type ToolContext,
} from "@soong/core";
import fc from "fast-check";

/** How one call behaves, stage by stage. It travels as the call's own input. */
export interface Manner {
  readonly do: (typeof DOINGS)[number];
  readonly check: (typeof CHECKS)[number];
  readonly plan: (typeof PLANS)[number];
  readonly pre: (typeof GUARDS)[number];
  readonly post: (typeof OBSERVERS)[number];
  readonly ask: (typeof ANSWERS)[number];
  readonly harmless: boolean;
  readonly ms: number;
}

const DOINGS = [
  "value",
  "later",
  "slow",
  "hang",
  "throw",
  "reject",
  "partial",
  "big",
  "report",
  "progress",
  "generator",
  "person",
  "cleanup",
] as const;
const CHECKS = ["fine", "slow", "hang", "wrong", "throw"] as const;
const PLANS = ["fine", "slow", "hang", "nonsense", "throw", "shifting", "secret"] as const;
const GUARDS = [
  "pass",
  "deny",
  "ask",
  "throw",
  "hang",
  "slow",
  "worse",
  "invalid",
  "stop",
] as const;
const OBSERVERS = ["pass", "replace", "hang", "throw"] as const;
const ANSWERS = ["once", "session", "deny", "throw", "hang", "slow", "nonsense"] as const;

const ALLOWED = ["t.read", "t.alone", "t.write", "t.mixed", "t.command", "t.cancel"] as const;
const NAMES = [...ALLOWED, "t.asks", "agent.create_sub_agent", "t.unknown"] as const;

export type Step =
  | {
      kind: "push";
      name: (typeof NAMES)[number];
      id: string | undefined;
      arguments: Manner | string;
    }
  | { kind: "wait"; ms: number }
  | { kind: "end" | "abort" | "interrupt" | "discard" };

export interface Case {
  readonly early: "none" | "readonly" | "all";
  readonly together: number;
  /** How long the journal takes to make things durable; undefined: it has nothing to wait for. */
  readonly flushMs: number | undefined;
  readonly steps: readonly Step[];
}

/** Mostly the first of them. */
function mostly<T>(values: readonly T[], weight = 8): fc.Arbitrary<T> {
  return fc.oneof(
    { weight, arbitrary: fc.constant(values[0] as T) },
    { weight: 2, arbitrary: fc.constantFrom(...values) },
  );
}

const manner: fc.Arbitrary<Manner> = fc.record({
  do: mostly(DOINGS, 1),
  check: mostly(CHECKS, 20),
  plan: mostly(PLANS, 12),
  pre: mostly(GUARDS, 12),
  post: mostly(OBSERVERS, 12),
  ask: mostly(ANSWERS, 4),
  harmless: fc.boolean(),
  ms: fc.integer({ min: 1, max: 80 }),
});

const push: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("push"),
  name: fc.constantFrom(...NAMES),
  id: fc.constantFrom(undefined, "a", "b", "c", "d", "e", "f", "g", "call_1", ""),
  arguments: fc.oneof(
    { weight: 15, arbitrary: manner },
    { weight: 1, arbitrary: fc.constantFrom("{", "[]", '{"ms":"soon"}', "x".repeat(40_000)) },
  ),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: push },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("wait"), ms: fc.integer({ min: 0, max: 60 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("end", "abort", "interrupt", "discard") }),
  },
);

const last: fc.Arbitrary<Step[]> = fc.oneof(
  fc.constant<Step[]>([]),
  fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.constantFrom("abort", "interrupt", "discard"))
    .map(([ms, kind]): Step[] => [{ kind: "wait", ms }, { kind }]),
);

export const anyCase: fc.Arbitrary<Case> = fc.record({
  early: fc.constantFrom("readonly", "none", "all"),
  together: fc.constantFrom(10, 2, 1),
  flushMs: fc.constantFrom(undefined, undefined, 0, 7),
  steps: fc
    .tuple(fc.array(step, { maxLength: 14 }), last)
    .map(([first, then]) => [...first, ...then]),
});

// ── the tools ───────────────────────────────────────────────────────────────────────────────────────

export const clock: HeldClock = createHeldClock(0);

/** Timers of the handlers and users themselves, which a cancelled call may well leave behind. */
export const own = { timers: 0 };

function pause(ms: number): Promise<void> {
  own.timers += 1;
  return new Promise((resolve) => {
    clock.after(ms, () => {
      own.timers -= 1;
      resolve();
    });
  });
}

const forever = (): Promise<never> => new Promise(() => {});
const fail = (): never => {
  throw new Error("by design");
};

/** Receives every handler that is entered, by the case that runs. */
export const stage: { entered(context: ToolContext): void } = { entered() {} };

function handler(given: unknown, context: ToolContext): unknown {
  stage.entered(context);
  const { do: doing, ms } = given as Manner;
  switch (doing) {
    case "value":
      return { done: true };
    case "later":
      return Promise.resolve("done");
    case "slow":
      return pause(ms).then(() => "done");
    case "hang":
      return forever();
    case "throw":
      return fail();
    case "reject":
      return pause(ms).then(fail);
    case "partial":
      return toolResult({ status: "partial", data: { half: true } });
    case "big":
      return pause(1).then(() => "x".repeat(70_000));
    case "report":
      return { ok: false, error: "by design" };
    case "progress":
      for (let i = 0; i < 120; i += 1) context.progress({ progress: i });
      context.output("so far");
      return pause(ms).then(() => "done");
    case "generator":
      return (async function* () {
        for (let i = 0; i < 3; i += 1) {
          await pause(ms / 2);
          yield { progress: i };
        }
        return "done";
      })();
    case "person":
      return context.waitForUser(pause(ms * 4)).then(() => "done");
    case "cleanup":
      context.onCancel(() => pause(ms / 4));
      return forever();
  }
}

function tool(name: string, about: Partial<AnyTool>): AnyTool {
  return {
    name,
    description: `The tool ${name}, which behaves as its input says`,
    input_schema: { type: "object", properties: { ms: { type: "number" } }, required: ["ms"] },
    validate(input: unknown) {
      const { check, ms } = input as Manner;
      if (check === "fine") return undefined;
      if (check === "wrong") return "wrong by design";
      if (check === "throw") return fail();
      return check === "slow" ? pause(ms).then(() => undefined) : forever();
    },
    prepare(input: unknown) {
      const { plan, ms } = input as Manner;
      const fine: Plan = { resources: [] };
      if (plan === "shifting") return { ...fine, facts: { now: clock.now() } };
      if (plan === "secret") {
        return { resources: [{ kind: "path", access: "write", path: "/secret" }] };
      }
      if (plan === "nonsense") return 5 as never;
      if (plan === "throw") return fail();
      if (plan === "hang") return forever();
      return plan === "slow" ? pause(ms).then(() => fine) : fine;
    },
    handler,
    ...about,
  };
}

const readonly = { permission: "readonly", concurrency_safe: true } as const;

const CODE_TOOLS: AnyTool[] = [
  tool("t.read", readonly),
  tool("t.alone", { permission: "readonly" }),
  tool("t.write", { permission: "write" }),
  tool("t.asks", { permission: "write" }),
  tool("t.mixed", {
    permission: "write",
    classify: (input: unknown) =>
      (input as Manner).harmless ? { read_only: true, concurrency_safe: true } : {},
  }),
  tool("t.command", { ...readonly, on_sibling_failure: "cancel_siblings" }),
  tool("t.cancel", { ...readonly, interrupt_behavior: "cancel" }),
];
const STARTER = tool("agent.create_sub_agent", { ...readonly, starts_agent: true });

export const policy = {
  rules: [
    ...ALLOWED.map((name) => ({
      tool: name,
      decision: "allow" as const,
    })),
    { path: "/secret", decision: "deny" as const },
  ],
};
export const roots = { project: "/", write: ["/"] };

export const hooks: AnyHook[] = [
  defineHook({
    id: "guard",
    event: "PreToolUse",
    run({ input }) {
      const { pre, ms, ...rest } = input as unknown as Manner;
      switch (pre) {
        case "pass":
          return undefined;
        case "deny":
        case "ask":
          return { decision: pre };
        case "throw":
          return fail();
        case "hang":
          return forever();
        case "slow":
          return pause(ms).then(() => undefined);
        case "worse":
          return { input: { ...rest, ms, pre: "pass", harmless: false } };
        case "invalid":
          return { input: { ms: "soon" } };
        case "stop":
          return { stop: "by design" };
      }
    },
  }),
  defineHook({
    id: "observer",
    event: "PostToolUse",
    run({ input }) {
      const { post } = input as unknown as Manner;
      if (post === "replace") return { replace: "replaced", context: "by a hook" };
      if (post === "throw") return fail();
      return post === "hang" ? forever() : undefined;
    },
  }),
];

export function answer(given: unknown): PermissionAnswer | Promise<PermissionAnswer> {
  const { ask, ms } = given as Manner;
  switch (ask) {
    case "once":
      return { decision: "allow_once" };
    case "session":
      return { decision: "allow_for_session" };
    case "deny":
      return { decision: "deny", reason: "by design" };
    case "throw":
      return fail();
    case "hang":
      return forever();
    case "slow":
      return pause(ms).then(() => ({ decision: "allow_once" }));
    case "nonsense":
      return "yes" as never;
  }
}

const kernels = new Map<string, Kernel>();

export function kernelFor({ early, together }: Case): Kernel {
  const key = `${early} ${together}`;
  const known = kernels.get(key);
  if (known !== undefined) return known;
  const kernel = createKernel({
    clock,
    tools: CODE_TOOLS,
    sources: [{ id: "agents", kind: "agent", tools: [STARTER] }],
    config: {
      tools: {
        default_timeout_ms: 50,
        cancel_grace_ms: 10,
        early_start: early,
        max_concurrency: together,
      },
      hooks: { timeout_ms: 40 },
      permissions: { ask_timeout_ms: 60 },
      agents: {
        child_timeout_ms: 70,
        max_children_per_run: 2,
        max_concurrent_children_per_session: 1,
      },
    },
  });
  kernels.set(key, kernel);
  return kernel;
}
