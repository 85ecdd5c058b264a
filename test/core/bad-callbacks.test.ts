// Functions of a definition, hooks and the user's callback that throw, hang or answer nonsense: one clear
// result, the safer reading, and nothing left waiting (PIPE-1, RESULT-1, DEF-3, DEF-4, PERM-4, HOOK-4, REG-4).

import {
  defineHook,
  NoOneToAsk,
  type AnyHook,
  type AnyTool,
  type HookEvent,
  type PermissionAnswer,
} from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { callBadly, quietly } from "./clear-end.ts";
import { drive, setStage, type StageOptions } from "./drive.ts";
import { boom, cyclic, forever } from "./hostile-values.ts";
import { allowAll, reader } from "./world.ts";

const boomLater = (): Promise<never> => Promise.reject(new Error("boom"));

const throwing = {
  get decision(): string {
    return boom();
  },
  get read_only(): boolean {
    return boom();
  },
  get resources(): unknown {
    return boom();
  },
};

/** Answers no one asked for. */
const NONSENSE: [what: string, answer: () => unknown][] = [
  ["a number", () => 5],
  ["a list", () => []],
  ["a function", () => () => "yes"],
  ["a symbol", () => Symbol("yes")],
  ["a Map", () => new Map([["decision", "deny"]])],
  ["a cyclic object", cyclic],
  ["an object with a BigInt", () => ({ decision: 1n, resources: [1n], n: 1n })],
  ["an object that throws when read", () => throwing],
];
const BROKEN: typeof NONSENSE = [
  ["an error", boom],
  ["an error later", boomLater],
  [
    "a thrown symbol",
    () => {
      throw Symbol("no");
    },
  ],
  ["nothing, for ever", forever],
];

/** Runs one call of a tool with one bad function and says whether its handler was reached. */
async function withBad(field: keyof AnyTool, answer: unknown, options: StageOptions = {}) {
  let ran = false;
  const about: Partial<AnyTool> = {
    handler: () => {
      ran = true;
      return "done";
    },
    [field]: answer,
  };
  const end = await callBadly(about, { policy: allowAll, ...options });
  return { ...end, ran };
}

describe("a tool whose validate", () => {
  it.each([...NONSENSE, ...BROKEN])("gives %s is not run", async (_what, answer) => {
    verifies("PIPE-1", "RESULT-1");
    const { result, ran } = await withBad("validate", answer);
    expect(ran).toBe(false);
    expect(result.status).toBe("failed");
    expect(["invalid_arguments", "tool_broken"]).toContain(result.error?.code);
  });
});

describe("a tool whose normalise", () => {
  const promises: typeof NONSENSE = [
    ["a promise", () => Promise.resolve({})],
    ["null", () => null],
    ["nothing", () => undefined],
    ["a string", () => "{}"],
  ];

  it.each([...NONSENSE, ...BROKEN, ...promises])("gives %s is not run", async (_what, answer) => {
    verifies("PIPE-1", "RESULT-1");
    const { result, ran } = await withBad("normalise", answer);
    expect(ran).toBe(false);
    expect(result).toMatchObject({ status: "failed", error: { code: "tool_broken" } });
    expect(result.error?.message).toContain("normalise");
  });
});

describe("a tool whose own schema", () => {
  const answers: typeof NONSENSE = [
    ["nothing", () => undefined],
    ["neither a value nor issues", () => ({})],
    ["issues that are none", () => ({ issues: "wrong" })],
    ["issues without a message", () => ({ issues: [{}, null] })],
    ["issues with odd paths", () => ({ issues: [{ message: "no", path: [Symbol("a"), null] }] })],
  ];

  it.each([...NONSENSE, ...BROKEN, ...answers])("gives %s is not run", async (_what, answer) => {
    verifies("PIPE-1", "SCHEMA-4", "RESULT-1");
    const { result, ran } = await withBad("input_schema", {
      "~standard": {
        version: 1,
        vendor: "odd",
        validate: answer,
        jsonSchema: { input: () => ({ type: "object" }) },
      },
    });
    expect(ran).toBe(false);
    expect(result.status).toBe("failed");
    expect(["invalid_arguments", "tool_broken"]).toContain(result.error?.code);
  });
});

describe("a tool whose prepare", () => {
  const plans: typeof NONSENSE = [
    ["nothing", () => undefined],
    ["no resources", () => ({})],
    ["resources that are none", () => ({ resources: [{ kind: "planet" }] })],
    ["a path that is a number", () => ({ resources: [{ kind: "path", access: "read", path: 5 }] })],
    [
      "a command without argv",
      () => ({ resources: [{ kind: "command", executable: "ls", cwd: "/" }] }),
    ],
  ];

  it.each([...NONSENSE, ...BROKEN, ...plans])("gives %s is not run", async (_what, answer) => {
    verifies("PIPE-1", "RESULT-1");
    const { result, ran } = await withBad("prepare", answer);
    expect(ran).toBe(false);
    expect(result.status).toBe("failed");
    expect(["prepare_failed", "execution_failed"]).toContain(result.error?.code);
  });
});

describe("a tool whose classify", () => {
  const classes: typeof NONSENSE = [
    ["nothing", () => undefined],
    ["a promise", () => Promise.resolve({ read_only: true })],
    ["words for booleans", () => ({ read_only: "yes" })],
    ["more than its definition", () => ({ destructive: true })],
  ];
  const SAYS_NOTHING = new Set(["a list", "a Map", "a cyclic object", "an object with a BigInt"]);
  const nonsense = NONSENSE.filter(([what]) => !SAYS_NOTHING.has(what));

  it.each([...nonsense, ...BROKEN, ...classes])(
    "gives %s is treated as a write",
    async (_what, answer) => {
      verifies("DEF-4", "PIPE-1", "RESULT-1");
      const { result, stage, ran } = await withBad("classify", answer, { policy: {} });
      // No one is there to ask, and as a write it has to be asked for.
      expect(ran).toBe(false);
      expect(result).toMatchObject({ status: "denied", error: { code: "permission_unanswered" } });
      expect(stage.facts("error")).toMatchObject([{ data: { code: "bad_classification" } }]);
    },
  );

  // The definition states the worst case already, so that is what such an answer may leave it at.
  it.each(NONSENSE.filter(([what]) => SAYS_NOTHING.has(what)))(
    "gives %s makes its call no safer than its definition",
    async (_what, answer) => {
      verifies("DEF-4", "PIPE-1", "RESULT-1");
      const about = { permission: "write" as const, classify: answer as never };
      const { result, stage } = await callBadly(about);
      expect(result).toMatchObject({ status: "denied", error: { code: "permission_unanswered" } });
      expect(stage.storyOf("1")).not.toContain("tool.started");
    },
  );
});

describe("a tool whose render", () => {
  it.each([...NONSENSE, ...BROKEN])("gives %s costs no call its result", async (_what, answer) => {
    verifies("PIPE-1", "RESULT-5");
    const { result, ran } = await withBad("render", answer);
    expect(ran).toBe(true);
    expect(result).toMatchObject({
      status: "succeeded",
      content: [{ type: "text", text: "done" }],
    });
  });
});

describe("a tool whose timeoutFor", () => {
  it.each([...NONSENSE.slice(1), ...BROKEN])(
    "gives %s has the time of its definition",
    async (_what, answer) => {
      verifies("PIPE-5", "PIPE-1");
      const { result } = await callBadly({
        timeoutFor: answer as never,
        timeout_ms: 700,
        handler: forever,
      });
      expect(result).toMatchObject({ status: "timed_out", metadata: { duration_ms: 700 } });
    },
  );
});

describe("a tool whose isEnabled", () => {
  const maybe: typeof NONSENSE = [
    ["nothing", () => undefined],
    ["the word true", () => "true"],
    ["one", () => 1],
    ["no", () => false],
  ];

  it.each([...NONSENSE, ...BROKEN, ...maybe])(
    "gives %s is not there, with the reason",
    async (_what, answer) => {
      verifies("REG-4", "SURF-3");
      await quietly(async () => {
        const stage = await setStage({
          tools: [reader("a.tool", 0, { isEnabled: answer as never }), reader("a.other")],
        });
        const [first, second] = await drive(
          stage.clock,
          stage.run.execute([
            { name: "a.tool", arguments: "{}" },
            { name: "a.other", arguments: "{}" },
          ]),
        );
        expect(first).toMatchObject({ status: "denied", error: { code: "tool_not_available" } });
        expect(first?.error?.message).toContain("isEnabled");
        expect(second?.status).toBe("succeeded");
        expect(stage.clock.pending).toBe(0);
      });
    },
  );
});

describe("a tool whose prompt", () => {
  it.each([...NONSENSE, ...BROKEN])(
    "gives %s goes without it, on record",
    async (_what, answer) => {
      verifies("PIPE-1", "DEF-2");
      const { stage, ran } = await withBad("prompt", answer);
      expect(ran).toBe(true);
      expect(stage.facts("error")).toMatchObject([
        { level: "warn", data: { code: "prompt_failed" } },
      ]);
      const { tools } = await stage.run.tools();
      expect(JSON.stringify(tools)).not.toContain("boom");
    },
  );
});

describe("a guard", () => {
  class Answer {
    get decision(): string {
      return "deny";
    }
  }
  const answers: typeof NONSENSE = [
    ["a word", () => "allow"],
    ["true", () => true],
    ["a decision there is not", () => ({ decision: "allow" })],
    ["a field there is not", () => ({ permission: "deny" })],
    ["an answer whose decision is not its own", () => new Answer()],
    ["an input that is a list", () => ({ input: [] })],
    ["a reason that is none", () => ({ decision: "pass", reason: 5 })],
  ];
  const events = ["PreToolUse", "PermissionRequest"] as const;
  const all = events.flatMap((event) =>
    [...NONSENSE, ...BROKEN, ...answers].map(([what, answer]) => ({ event, what, answer })),
  );

  const hookOf = (event: HookEvent, run: () => unknown, on_failure?: "continue"): AnyHook =>
    defineHook({ id: "guard", event, run: run as never, ...(on_failure && { on_failure }) });

  it.each(all)(
    "($event) that gives $what denies a write and asks about a readonly call",
    async ({ event, answer }) => {
      verifies("HOOK-4", "RESULT-1", "PIPE-1");
      const ask = (): PermissionAnswer => ({ decision: "allow_once" });
      const hooks = [hookOf(event, answer)];
      const asks = { rules: [{ tool: "a.tool", decision: "ask" as const }] };
      const policy = event === "PermissionRequest" ? asks : allowAll;
      const write = await callBadly({ permission: "write" }, { hooks, ask, policy });
      expect(write.result).toMatchObject({ status: "denied", error: { code: "hook_denied" } });
      expect(write.result.error?.message).toContain("guard");
      expect(write.stage.storyOf("1")).toContain("hook.failed");
      expect(write.stage.storyOf("1")).toContain("hook.denied");
      expect(write.stage.storyOf("1")).not.toContain("permission.requested");

      const read = await callBadly({}, { hooks, ask, policy });
      expect(read.result.status).toBe("succeeded");
      expect(read.stage.storyOf("1")).toContain("permission.requested");
      const unanswered = await callBadly({}, { hooks, policy });
      expect(unanswered.result.status).toBe("denied");
    },
  );

  it.each(BROKEN)("that gives %s and says to continue is only a warning", async (_what, answer) => {
    verifies("HOOK-4");
    for (const event of events) {
      const { result, stage } = await callBadly(
        { permission: "write" },
        { hooks: [hookOf(event, answer, "continue")], ask: () => ({ decision: "allow_once" }) },
      );
      expect(result.status).toBe("succeeded");
      expect(stage.facts("hook.failed")).toMatchObject([{ level: "warn" }]);
    }
  });

  it.each([...NONSENSE, ...BROKEN])(
    "is not an observer: one that gives %s changes nothing",
    async (_what, answer) => {
      verifies("HOOK-4", "RESULT-1");
      const observers: HookEvent[] = ["SessionStart", "PostToolUse", "PostToolUseFailure"];
      for (const fails of [false, true]) {
        const { result, stage } = await callBadly(
          { handler: () => (fails ? boom() : "done") },
          { hooks: observers.map((event) => hookOf(event, answer)) },
        );
        expect(result.status).toBe(fails ? "failed" : "succeeded");
        expect(stage.facts("hook.failed")).toHaveLength(2);
        for (const { level } of stage.facts("hook.failed")) expect(level).toBe("warn");
      }
    },
  );
});

describe("the user's callback", () => {
  const answers: typeof NONSENSE = [
    ["nothing", () => undefined],
    ["the word allow_once", () => "allow_once"],
    ["a decision there is not", () => ({ decision: "allow" })],
    ["a decision in a list", () => ({ decision: ["allow_once"] })],
  ];

  it.each([...NONSENSE, ...BROKEN.slice(0, 3), ...answers])(
    "that gives %s is a no",
    async (_what, answer) => {
      verifies("PERM-4", "RESULT-1");
      const { result, stage } = await callBadly({ permission: "write" }, { ask: answer as never });
      expect(result).toMatchObject({ status: "denied", error: { code: "permission_unanswered" } });
      expect(stage.storyOf("1")).toContain("permission.failed");
      expect(stage.storyOf("1")).not.toContain("tool.started");
    },
  );

  it("that says why no one can be asked is quoted, and is a no", async () => {
    verifies("PERM-4");
    const ask = (): never => {
      throw new NoOneToAsk("everybody has gone home");
    };
    const { result } = await callBadly({ permission: "write" }, { ask });
    expect(result).toMatchObject({ status: "denied", error: { code: "permission_unanswered" } });
    expect(result.error?.message).toMatch(/, and everybody has gone home\.$/);
  });

  it("that never answers is a no after the time it has", async () => {
    verifies("PERM-4", "RESULT-1");
    const config = { permissions: { ask_timeout_ms: 30_000 } };
    const { result } = await callBadly({ permission: "write" }, { ask: forever, config });
    expect(result).toMatchObject({ status: "denied", error: { code: "permission_unanswered" } });
  });

  it("changes nothing by what it does to the request", async () => {
    verifies("PERM-4");
    let got: unknown;
    const { result } = await callBadly(
      { permission: "write", handler: (input: unknown) => void (got = input) },
      {
        call: { arguments: '{"a":1}' },
        ask: (request) => {
          Object.assign(request, { digest: "x", tool_name: "a.other" });
          Object.assign(request.arguments as object, { a: 2 });
          return { decision: "allow_once" };
        },
      },
    );
    expect(result.status).toBe("succeeded");
    expect(got).toEqual({ a: 1 });
  });

  it.each([...NONSENSE, ...BROKEN.slice(0, 3)])(
    "for an elicitation that gives %s declines",
    async (_what, answer) => {
      verifies("RESULT-1", "PIPE-1");
      const { result } = await callBadly(
        {
          handler: async (_input: unknown, context) =>
            context.elicit({ mode: "form", message: "which?", requested_schema: {} }),
        },
        { elicit: answer as never },
      );
      expect(result).toMatchObject({ status: "succeeded", data: { action: "decline" } });
    },
  );
});
