// DEF-2 and DEF-5: the optional parts of a definition (prompt, normalise, validate, its own time, prepare),
// each asked when it should be and not trusted further than that.

import { defineHook, type AnyTool, type Fact, type JsonObject, type Plan } from "@soong/core";
import { toolRecord } from "@soong/core/internal";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { drive, setStage } from "./drive.ts";
import { personWho } from "./people.ts";
import { planOf, watchedReader, watchedWriter, writes } from "./watched.ts";
import { allowAll, createWorld, pause, reader, textOf, writer } from "./world.ts";

describe("the optional data of a definition", () => {
  it("is shown where it belongs: title, hint, aliases, bounds", async () => {
    verifies("DEF-2");
    const tool = reader("notes.find", 0, {
      title: "Find notes",
      search_hint: "find notes by text",
      aliases: ["find_notes"],
      max_result_chars: 500,
      timeout_ms: 900,
      interrupt_behavior: "cancel",
      on_sibling_failure: "cancel_siblings",
      output_schema: { type: "object" },
      metadata: { team: "search" },
    });
    const { kernel } = await setStage({ tools: [tool] });
    const registered = kernel.registry.current("notes.find");
    expect(registered && toolRecord(registered)).toMatchObject({
      title: "Find notes",
      search_hint: "find notes by text",
      aliases: ["find_notes"],
      max_result_chars: 500,
      timeout_ms: 900,
      interrupt_behavior: "cancel",
      on_sibling_failure: "cancel_siblings",
      output_schema: { type: "object" },
      metadata: { team: "search" },
    });
  });
});

describe("prompt", () => {
  it("is asked once a session, by whichever run comes first, and follows the description", async () => {
    verifies("DEF-2");
    let asked = 0;
    const tool = reader("notes.find", 0, {
      prompt: async () => `How to find, told ${(asked += 1)} times.`,
    });
    const stage = await setStage({ tools: [tool] });
    const second = await stage.session.startRun({});
    for (const run of [stage.run, second, stage.run]) {
      const { tools } = await run.tools();
      expect(tools[0]?.description).toBe(
        "The tool notes.find, for tests\n\nHow to find, told 1 times.",
      );
    }
    expect(asked).toBe(1);
    const other = await stage.kernel.openSession({});
    await other.startRun({});
    expect(asked).toBe(2);
  });

  it("of a tool that is not loaded is not asked", async () => {
    verifies("DEF-2", "SEARCH-1");
    let asked = 0;
    const about: Partial<AnyTool> = { prompt: () => `${(asked += 1)}` };
    await setStage({
      tools: [
        reader("a.deferred", 0, { ...about, defer: true }),
        reader("a.off", 0, { ...about, isEnabled: () => false }),
      ],
    });
    expect(asked).toBe(0);
  });

  it.each<[string, () => unknown]>([
    ["throws", () => Promise.reject(new Error("no manual"))],
    ["hangs", () => new Promise(() => {})],
    ["answers with nonsense", () => ({ text: "x" })],
  ])("that %s costs the tool its instructions, on record, and nothing else", async (_, prompt) => {
    verifies("DEF-2");
    const stage = await setStage({
      tools: [reader("notes.find", 0, { prompt: prompt as () => string })],
    });
    const { tools } = await stage.run.tools();
    expect(tools[0]?.description).toBe("The tool notes.find, for tests");
    expect(stage.facts("error")[0]?.data).toMatchObject({
      code: "prompt_failed",
      tool_name: "notes.find",
    });
  });
});

describe("normalise", () => {
  const lower = (input: unknown): JsonObject => {
    const { path, ...rest } = input as { path: string };
    return { ...rest, path: path.toLowerCase() };
  };

  it("gives what hooks and users see, what is judged, and what the handler gets", async () => {
    verifies("DEF-2", "SCHEMA-6");
    const seen: unknown[] = [];
    const person = personWho("allow_once");
    const { tool, inputs } = watchedWriter("files.touch", {
      normalise: lower,
      validate: (input) => void seen.push(["validate", input]),
      classify: (input) => {
        seen.push(["classify", input]);
        return {};
      },
      prepare: (input) => {
        seen.push(["prepare", input]);
        return { resources: [] };
      },
    });
    const hook = defineHook({
      id: "watch",
      event: "PreToolUse",
      run: ({ input }) => void seen.push(["hook", input]),
    });
    const world = await createWorld({ tools: [tool], hooks: [hook], ask: person.ask });
    await world.execute({ id: "c", name: "files.touch", arguments: { path: "/A", n: 1 } });
    const normalised = { path: "/a", n: 1 };
    expect(seen.map((entry) => (entry as unknown[])[1])).toEqual(seen.map(() => normalised));
    expect(person.requests[0]?.arguments).toEqual(normalised);
    expect(inputs).toEqual([normalised]);
    expect(mutations(world.facts("input.mutated"))).toEqual([["normalise", ["path"]]]);
  });

  it("that changes nothing is no mutation", async () => {
    verifies("DEF-2", "SCHEMA-6");
    const { tool } = watchedReader("files.look", { normalise: lower });
    const world = await createWorld({ tools: [tool] });
    await world.execute({ name: "files.look", arguments: { path: "/a" } });
    expect(world.facts("input.mutated")).toEqual([]);
  });

  it("that changes its input in place is found out all the same", async () => {
    verifies("DEF-2", "SCHEMA-6");
    const { tool, inputs } = watchedReader("files.look", {
      normalise(input) {
        const given = input as JsonObject;
        given["path"] = "/changed";
        return given;
      },
    });
    const world = await createWorld({ tools: [tool] });
    const given = { path: "/a" };
    await world.execute({ name: "files.look", arguments: given });
    expect(inputs).toEqual([{ path: "/changed" }]);
    expect(given).toEqual({ path: "/a" });
    expect(mutations(world.facts("input.mutated"))).toEqual([["normalise", ["path"]]]);
  });

  it.each<[string, () => unknown]>([
    ["throws", () => raise("no")],
    ["returns nothing", () => undefined],
    ["returns text", () => "x"],
    ["returns a list", () => []],
  ])("that %s ends the call as the tool's own fault", async (_, normalise) => {
    verifies("DEF-2");
    const { tool, inputs } = watchedReader("files.look", { normalise });
    const world = await createWorld({ tools: [tool] });
    const [result] = await world.execute({ name: "files.look", arguments: {} });
    expect(result).toMatchObject({ status: "failed", error: { code: "tool_broken" } });
    expect(inputs).toEqual([]);
  });
});

describe("validate", () => {
  it("refuses values in its own words before anyone is asked, and says to change them", async () => {
    verifies("DEF-2", "SCHEMA-4");
    const person = personWho("allow_once");
    const { tool, inputs } = watchedWriter("files.touch", {
      validate: async () => "path must lie in the project",
    });
    const world = await createWorld({ tools: [tool], ask: person.ask });
    const [result] = await world.execute({ id: "c", name: "files.touch", arguments: {} });
    expect(result?.error).toMatchObject({
      code: "invalid_arguments",
      error_class: "invalid_arguments",
      recovery: "change_arguments",
    });
    expect(textOf(result)).toContain("path must lie in the project");
    expect([inputs, person.requests]).toEqual([[], []]);
    expect(world.storyOf("c")).toEqual(["tool.requested", "tool.failed", "tool.yielded"]);
  });

  it.each<[string, () => unknown]>([
    ["throws", () => raise("bad")],
    ["answers with false", () => false],
    ["answers with an object", () => ({ ok: true })],
    ["hangs", () => new Promise(() => {})],
  ])("that %s is not taken for a yes", async (_, validate) => {
    verifies("DEF-2");
    const { tool, inputs } = watchedReader("files.look", { validate: validate as never });
    const world = await createWorld({ tools: [tool] });
    const [result] = await world.execute({ name: "files.look", arguments: {} });
    expect(result?.status).toBe("failed");
    expect(inputs).toEqual([]);
  });
});

describe("a tool's own time", () => {
  it.each([
    ["the default", {}, 1000],
    ["what the definition says", { timeout_ms: 3000 }, 3000],
    ["never more than the maximum", { timeout_ms: 9000 }, 5000],
    ["what the input asks for, where the tool lets it", { timeoutFor: () => 2000 }, 2000],
    ["the maximum, whatever the input asks", { timeoutFor: () => 1e9 }, 5000],
    ["nothing strange", { timeout_ms: 3000, timeoutFor: () => Number.NaN }, 3000],
  ])("is %s", async (_, about: Partial<AnyTool>, ms) => {
    verifies("DEF-2", "PIPE-5");
    const tool = reader("a.slow", 0, { ...about, handler: () => new Promise(() => {}) });
    const config = { tools: { default_timeout_ms: 1000, max_timeout_ms: 5000 } };
    const stage = await setStage({ tools: [tool], config });
    const work = stage.run.execute([{ name: "a.slow", arguments: {} }]);
    await stage.clock.advance(ms - 1);
    expect(stage.facts("tool.failed")).toEqual([]);
    await stage.clock.advance(1);
    const [result] = await work;
    expect([result?.status, result?.metadata.duration_ms]).toEqual(["timed_out", ms]);
  });
});

describe("a plan", () => {
  const plan: Plan = {
    resources: [writes("/p/a")],
    preview: { kind: "diff", path: "/p/a", diff: "+x" },
    pre_images: [{ path: "/p/a", sha256: null }],
    destructive: false,
    facts: { mode: 0o644 },
  };

  it("is what the user is shown, what is judged, and what execution receives", async () => {
    verifies("DEF-5");
    const person = personWho("allow_once");
    const { tool, plans } = watchedWriter("files.edit", { prepare: () => plan });
    const world = await createWorld({ tools: [tool], ask: person.ask });
    await world.execute({ name: "files.edit", arguments: {} });
    expect(plans).toEqual([{ ...plan, digest: expect.any(String) as string }]);
    const digest = plans[0]?.digest;
    expect(person.requests[0]).toMatchObject({
      preview: plan.preview,
      resources: plan.resources,
      destructive: false,
      digest,
    });
    expect(world.facts("permission.evaluated").at(-1)?.data).toMatchObject({
      resources: plan.resources,
      digest,
    });
    expect(world.facts("tool.started")[0]?.data.digest).toBe(digest);
  });

  it("has a digest over the tool, the input and all of the plan", async () => {
    verifies("DEF-5");
    const digests = new Set<unknown>();
    const variants: [Plan, JsonObject, string][] = [
      [plan, {}, "files.edit"],
      [plan, { a: 1 }, "files.edit"],
      [plan, {}, "files.other"],
      [{ ...plan, resources: [writes("/p/b")] }, {}, "files.edit"],
      [{ ...plan, preview: { kind: "text", text: "+x" } }, {}, "files.edit"],
      [{ ...plan, pre_images: [{ path: "/p/a", sha256: "00" }] }, {}, "files.edit"],
      [{ ...plan, destructive: true }, {}, "files.edit"],
      [{ ...plan, facts: { mode: 0o600 } }, {}, "files.edit"],
    ];
    for (const [given, input, name] of [...variants, ...variants]) {
      const tool = writer(name, 0, { prepare: () => given });
      const world = await createWorld({ tools: [tool], policy: allowAll });
      await world.execute({ name, arguments: input });
      digests.add(world.facts("tool.started")[0]?.data.digest);
    }
    expect(digests.size).toBe(variants.length);
  });

  it("that no longer holds after the approval is refused, and nothing runs", async () => {
    verifies("DEF-5", "PERM-8");
    let size = 1;
    const { tool, inputs } = watchedWriter("files.edit", {
      prepare: () => ({ resources: [writes("/p/a")], facts: { size } }),
    });
    const person = personWho(() => {
      size = 2;
      return { decision: "allow_once" };
    });
    const world = await createWorld({ tools: [tool], ask: person.ask });
    const [result] = await world.execute({ name: "files.edit", arguments: {} });
    expect(result?.error?.code).toBe("changed_since_approval");
    expect(inputs).toEqual([]);
  });

  it("cannot be changed by its owner after it was judged", async () => {
    verifies("DEF-5");
    const shared: Plan = { resources: [writes("/p/a")] };
    const person = personWho((request) => {
      (request.resources[0] as { path: string }).path = "/etc/passwd";
      (shared.resources[0] as { path: string }).path = "/p/a";
      return { decision: "allow_once" };
    });
    const { tool, plans } = watchedWriter("files.edit", { prepare: () => shared });
    const world = await createWorld({ tools: [tool], ask: person.ask });
    const [result] = await world.execute({ name: "files.edit", arguments: {} });
    expect(result?.status).toBe("succeeded");
    expect(plans[0]?.resources).toEqual([writes("/p/a")]);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["text", "rm -rf"],
    ["no resources", {}],
    ["a resource of no kind", { resources: [{ kind: "printer" }] }],
    ["a path that may be anything", { resources: [{ kind: "path", path: "/p" }] }],
    ["a command without an argv", { resources: [{ kind: "command", executable: "ls", cwd: "/" }] }],
  ])("that is %s ends the call unexecuted", async (_, bad) => {
    verifies("DEF-5");
    const { tool, inputs } = watchedWriter("files.edit", { prepare: () => bad as Plan });
    const world = await createWorld({ tools: [tool], policy: allowAll });
    const [result] = await world.execute({ name: "files.edit", arguments: {} });
    expect(result).toMatchObject({ status: "failed", error: { code: "prepare_failed" } });
    expect(inputs).toEqual([]);
  });

  it("is made on what the call before it left", async () => {
    verifies("DEF-5", "PIPE-1");
    const file = { text: "one" };
    const seen: unknown[] = [];
    const stage = await setStage({
      tools: [
        writer("files.edit", 0, {
          prepare: () => ({ ...planOf(writes("/p/a"))(), facts: file.text }),
          async handler(_, { plan: got }) {
            seen.push(got?.facts);
            await pause(stage.clock, 5);
            file.text += "+";
          },
        }),
      ],
      policy: allowAll,
    });
    const call = { name: "files.edit", arguments: {} };
    await drive(stage.clock, stage.run.execute([call, call]));
    expect(seen).toEqual(["one", "one+"]);
  });
});

function mutations(facts: readonly Fact<"input.mutated">[]): unknown[] {
  return facts.map(({ data }) => [data.source, data.changed_fields]);
}

function raise(message: string): never {
  throw new Error(message);
}
