// A yes is bound to what was shown (PERM-8, DEF-5): the same plan reaches the handler, or nothing happens.

import {
  defineHook,
  ToolFailure,
  type AnyTool,
  type JsonObject,
  type Plan,
  type PreparedPlan,
} from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { personWho, slowPerson } from "./people.ts";
import { planByInput, watchedWriter, type Watched } from "./watched.ts";
import { allowAll, createWorld, reader, textOf, type World } from "./world.ts";

/** One file, and a tool that appends to it; its plan shows the file as it is. */
function notebook(): { file: { text: string | undefined }; append: Watched } {
  const file: { text: string | undefined } = { text: "one" };
  const prepare = (input: unknown): Plan => {
    if (file.text === undefined) throw new ToolFailure({ code: "not_found", message: "no file" });
    return {
      resources: [{ kind: "path", access: "write", path: "/project/a" }],
      preview: {
        kind: "diff",
        path: "/project/a",
        diff: `-${file.text}\n+${file.text}${(input as { text: string }).text}`,
      },
      pre_images: [{ path: "/project/a", sha256: file.text }],
    };
  };
  const append = watchedWriter("notes.append", {
    prepare,
    handler: (input: unknown) => {
      file.text += (input as { text: string }).text;
      return "done";
    },
  });
  return { file, append };
}

const call = (text = "+") => ({ id: "c1", name: "notes.append", arguments: { text } });

async function whileAsked(
  tools: AnyTool[],
  meanwhile: (world: World) => void | Promise<void>,
  decision: "allow_once" | "allow_for_session" = "allow_once",
) {
  const person = slowPerson();
  const world = await createWorld({ tools, ask: person.ask });
  const executing = world.run.execute([call(), { id: "c2", name: "notes.read", arguments: {} }]);
  await world.clock.settle();
  await meanwhile(world);
  person.answer("c1", { decision });
  const [result, later] = await executing;
  return { result, later, world, person };
}

describe("what was approved", () => {
  test("is what the handler gets: one plan with one digest, from question to execution", async () => {
    verifies("DEF-5", "PERM-8");
    const { append, file } = notebook();
    const { result, world, person } = await whileAsked(
      [append.tool, reader("notes.read")],
      () => {},
    );
    expect(result?.status).toBe("succeeded");
    expect(file.text).toBe("one+");
    const [plan] = append.plans;
    const [request] = person.requests;
    expect(plan?.preview).toEqual(request?.preview);
    expect(plan?.digest).toBe(request?.digest);
    for (const type of ["permission.evaluated", "permission.resolved", "tool.started"] as const) {
      const facts = world.facts(type).filter(({ tool_call_id }) => tool_call_id === "c1");
      expect(facts.at(-1)?.data, type).toMatchObject({ digest: plan?.digest });
    }
  });

  test("planning has no effect and comes before the question", async () => {
    verifies("DEF-5");
    const { append, file } = notebook();
    const person = personWho("deny");
    const world = await createWorld({ tools: [append.tool], ask: person.ask });
    await world.execute(call());
    expect(person.requests[0]?.preview).toMatchObject({ kind: "diff", diff: "-one\n+one+" });
    expect(file.text).toBe("one");
  });

  test.each<[string, (file: { text: string | undefined }) => void]>([
    ["changed", (file) => (file.text = "two")],
    ["is gone", (file) => (file.text = undefined)],
  ])("no longer holds when the file %s meanwhile: nothing is written", async (_, change) => {
    verifies("PERM-8", "DEF-5");
    const { append, file } = notebook();
    const { result, later, world } = await whileAsked([append.tool, reader("notes.read")], () =>
      change(file),
    );
    expect(result).toMatchObject({
      status: "failed",
      is_error: true,
      error: { code: "changed_since_approval", retryable: true },
    });
    expect(append.inputs).toEqual([]);
    expect(world.storyOf("c1")).not.toContain("tool.started");
    expect(world.storyOf("c1")).toContain("tool.failed");
    // It was to be a write, so what comes after it does not happen either.
    expect(later?.status).toBe("skipped");
  });

  test("no longer holds, then a yes for the session is not remembered", async () => {
    verifies("PERM-8", "PERM-5");
    const { append, file } = notebook();
    const { world } = await whileAsked(
      [append.tool, reader("notes.read")],
      () => void (file.text = "two"),
      "allow_for_session",
    );
    expect(world.session.grants()).toEqual([]);
    expect(world.facts("grant.created")).toEqual([]);
  });

  test("is refused as changed when planning again fails or hangs", async () => {
    verifies("PERM-8");
    for (const second of ["throw", "hang"] as const) {
      let count = 0;
      const { tool, inputs } = watchedWriter("notes.append", {
        prepare: () => {
          count += 1;
          if (count === 1) return { resources: [] };
          if (second === "throw") throw new Error("disk on fire");
          return new Promise<Plan>(() => {});
        },
      });
      const world = await createWorld({ tools: [tool], ask: personWho("allow_once").ask });
      const [result] = await world.execute(call());
      expect(result?.error?.code).toBe("changed_since_approval");
      expect(inputs).toEqual([]);
    }
  });

  test("does not become something else when the tool is replaced under the open question", async () => {
    verifies("PERM-8");
    const { append } = notebook();
    const swapped = watchedWriter("notes.append", { description: "Something else altogether" });
    const person = slowPerson();
    const world = await createWorld({ ask: person.ask });
    const source = world.kernel.registry.register(append.tool);
    const run = await world.session.startRun({});
    const executing = run.execute([call()]);
    await world.clock.settle();
    source.set([swapped.tool]);
    person.answer("c1", { decision: "allow_once" });
    await executing;
    expect(swapped.inputs).toEqual([]);
  });
});

describe("the digest", () => {
  async function digestOf(tool: AnyTool, input: JsonObject): Promise<string | undefined> {
    const person = personWho("deny");
    const world = await createWorld({ tools: [tool], ask: person.ask });
    await world.execute({ name: tool.name, arguments: input });
    return person.requests[0]?.digest;
  }
  const base = watchedWriter("notes.edit", { prepare: planByInput() }).tool;

  test("covers input, targets, preview, pre-images and the definition", async () => {
    verifies("DEF-5", "PERM-8");
    const plan: Plan = { resources: [], preview: { kind: "text", text: "a" } };
    const variants: [AnyTool, JsonObject][] = [
      [base, { path: "/a" }],
      [base, { path: "/b" }],
      [base, { path: "/a", more: true }],
      [{ ...base, prepare: () => plan }, {}],
      [{ ...base, prepare: () => ({ ...plan, preview: { kind: "text", text: "b" } }) }, {}],
      [{ ...base, prepare: () => ({ ...plan, pre_images: [{ path: "/a", sha256: null }] }) }, {}],
      [{ ...base, prepare: () => ({ ...plan, pre_images: [{ path: "/a", sha256: "00" }] }) }, {}],
      [{ ...base, prepare: () => ({ ...plan, facts: { mode: 1 } }) }, {}],
      [{ ...base, prepare: () => ({ ...plan, destructive: true }) }, {}],
      [{ ...base, description: "Another tool", prepare: () => plan }, {}],
      [{ ...base, prepare: undefined }, { text: "a" }],
      [{ ...base, prepare: undefined }, { text: "b" }],
    ];
    const digests: (string | undefined)[] = [];
    for (const [tool, input] of variants) digests.push(await digestOf(tool, input));
    expect(digests).not.toContain(undefined);
    expect(new Set(digests).size).toBe(variants.length);
  });

  test("is the same for the same call, in any order of its fields", async () => {
    verifies("DEF-5");
    expect(await digestOf(base, { path: "/a", more: 1 })).toBe(
      await digestOf(base, { more: 1, path: "/a" }),
    );
  });

  test("a plan is data: what the tool does to it afterwards changes nothing", async () => {
    verifies("DEF-5", "PERM-8");
    const plan: Plan = { resources: [{ kind: "path", access: "write", path: "/project/a" }] };
    const { tool, plans } = watchedWriter("notes.edit", { prepare: () => plan });
    const person = personWho(() => {
      plan.resources[0] = { kind: "path", access: "write", path: "/etc/passwd" };
      return { decision: "allow_once" };
    });
    const world = await createWorld({ tools: [tool], ask: person.ask });
    const [result] = await world.execute({ name: "notes.edit", arguments: {} });
    expect(result?.error?.code).toBe("changed_since_approval");
    expect(plans).toEqual([]);
  });
});

describe("planning", () => {
  test.each<[string, () => unknown]>([
    ["throws", () => failing()],
    ["rejects", async () => Promise.reject(new Error("no"))],
    ["returns nothing", () => undefined],
    ["returns no list of targets", () => ({ resources: "all" })],
    ["returns a target of no kind", () => ({ resources: [{ kind: "everything" }] })],
    ["returns a path without an access", () => ({ resources: [{ kind: "path", path: "/a" }] })],
    [
      "returns a command without argv",
      () => ({ resources: [{ kind: "command", executable: "/a", argv: [], cwd: "/" }] }),
    ],
    ["never returns", async () => new Promise(() => {})],
  ])("that %s ends the call before anyone is asked", async (_, prepare) => {
    verifies("DEF-5", "PIPE-1");
    const { tool, inputs } = watchedWriter("notes.edit", { prepare: prepare as () => Plan });
    const person = personWho("allow_once");
    const world = await createWorld({ tools: [tool], ask: person.ask, policy: allowAll });
    const [result] = await world.execute({ id: "c1", name: "notes.edit", arguments: {} });
    expect(result).toMatchObject({ status: "failed", is_error: true });
    expect(inputs).toEqual([]);
    expect(person.requests).toEqual([]);
    expect(world.storyOf("c1")).not.toContain("tool.started");
  });

  test.each(["/project/../etc/passwd", "a/b", "/project//a", "/project/a/", ""])(
    "with a target that is not canonical (%j) is denied, not guessed at",
    async (path) => {
      verifies("DEF-5", "PERM-2");
      const { tool, inputs } = watchedWriter("notes.edit", { prepare: planByInput() });
      const world = await createWorld({
        tools: [tool],
        policy: allowAll,
        ask: personWho("allow_once").ask,
      });
      const [result] = await world.execute({ name: "notes.edit", arguments: { path } });
      expect(result?.status, textOf(result)).toBe("denied");
      expect(inputs).toEqual([]);
    },
  );

  test("of the second edit of a file happens on what the first one left", async () => {
    verifies("PIPE-1", "DEF-5");
    const { append, file } = notebook();
    const world = await createWorld({ tools: [append.tool], policy: allowAll });
    await world.execute({ ...call("+"), id: "a" }, { ...call("!"), id: "b" });
    expect(file.text).toBe("one+!");
    expect(
      append.plans.map((plan: PreparedPlan | undefined) => plan?.pre_images?.[0]?.sha256),
    ).toEqual(["one", "one+"]);
  });

  test("of two calls that a hook turned into writes happens one after the other, too", async () => {
    verifies("PIPE-1", "PIPE-2", "DEF-5");
    const { append, file } = notebook();
    const quiet: AnyTool = {
      ...append.tool,
      classify: (input) =>
        (input as { text: string }).text === "" ? { read_only: true, concurrency_safe: true } : {},
    };
    const fill = defineHook({
      id: "fill",
      event: "PreToolUse",
      run: ({ tool_call_id, input }) =>
        (input as { text: string }).text === "" ? { input: { text: `+${tool_call_id}` } } : {},
    });
    const world = await createWorld({ tools: [quiet], policy: allowAll, hooks: [fill] });
    const results = await world.execute({ ...call(""), id: "a" }, { ...call(""), id: "b" });
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect(file.text).toBe("one+a+b");
    expect(append.plans.map((plan) => plan?.pre_images?.[0]?.sha256)).toEqual(["one", "one+a"]);
  });
});

function failing(): never {
  throw new Error("no");
}
