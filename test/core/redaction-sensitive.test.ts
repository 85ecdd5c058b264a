// Fields a schema marks sensitive (REDACT-2) are redacted in every record, whatever they hold; the handler
// gets them as they are.

import { defineHook, type AnyTool, type JsonObject, type ToolSource } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pre } from "./pre-hook.ts";
import { createWatchedWorld, type WatchedWorld } from "./secrets.ts";
import { watchedReader, watchedWriter } from "./watched.ts";
import { allowAll, textOf, type WorldOptions } from "./world.ts";

/** Nothing but its field makes it a secret. */
const PIN = "blue-otter-77";

const schema: JsonObject = {
  type: "object",
  properties: {
    user: { type: "string" },
    pin: { type: "string", "x-sensitive": true },
    password: { type: "string", format: "password", minLength: 5 },
    nested: {
      type: "object",
      properties: { key: { type: "string", writeOnly: true }, plain: { type: "string" } },
    },
    list: {
      type: "array",
      items: { type: "object", properties: { pin: { type: "string", "x-sensitive": true } } },
    },
    code: { type: "integer", "x-sensitive": true },
    any: { type: "object", additionalProperties: { type: "string", "x-sensitive": true } },
  },
  required: ["user"],
  additionalProperties: false,
};

const input: JsonObject = {
  user: "ada",
  pin: PIN,
  password: PIN,
  nested: { key: PIN, plain: "visible" },
  list: [{ pin: PIN }, { pin: PIN }],
  code: 424_242,
  any: { anything: PIN },
};

async function calledWith(
  about: Partial<AnyTool>,
  given: unknown = input,
  options: WorldOptions = {},
): Promise<{ world: WatchedWorld; text: string; inputs: JsonObject[]; said: string }> {
  const tool = watchedWriter("bank.login", {
    input_schema: schema,
    handler: () => "done",
    ...about,
  });
  const world = await createWatchedWorld({ tools: [tool.tool], ...options });
  const [result] = await world.execute({ id: "c1", name: "bank.login", arguments: given });
  return { world, text: world.allText(result), inputs: tool.inputs, said: textOf(result) };
}

describe("of an input", () => {
  test.each<[string, unknown]>([
    ["a value", input],
    ["text", JSON.stringify(input)],
    ["text with escapes", JSON.stringify(input).replaceAll("otter", String.raw`o\u0074ter`)],
  ])(
    "given as %s: in no record, question or payload, but in the handler's hands",
    async (_, given) => {
      verifies("REDACT-2");
      const { world, text, inputs } = await calledWith({}, given);
      expect(inputs).toEqual([input]);
      expect(text).not.toContain("otter");
      expect(text).not.toContain("424242");
      expect(world.facts("tool.requested")[0]?.data.model_input).toMatchObject({
        user: "ada",
        pin: "[redacted:sensitive]",
        nested: { key: "[redacted:sensitive]", plain: "visible" },
        list: [{ pin: "[redacted:sensitive]" }, { pin: "[redacted:sensitive]" }],
      });
      expect(world.heard).toContainEqual(
        expect.objectContaining({
          arguments: expect.objectContaining({
            user: "ada",
            pin: "[redacted:sensitive]",
          }) as object,
        }),
      );
    },
  );

  test.each<[string, string]>([
    ["cut off", `{"user": "ada", "pin": "${PIN}"`],
    ["with a stray comma", `{"user": "ada",, "pin": "${PIN}"}`],
    ["not JSON at all", `pin=${PIN}`],
    ["a list", `["${PIN}"]`],
    ["a text", JSON.stringify(PIN)],
  ])("whose arguments do not parse (%s): nothing of them is kept", async (_, given) => {
    verifies("REDACT-2");
    const { text, inputs } = await calledWith({}, given);
    expect(inputs).toEqual([]);
    expect(text).not.toContain("otter");
  });

  test.each<[string, JsonObject]>([
    ["too short", { user: "ada", password: "abc!" }],
    ["of the wrong type", { user: "ada", pin: ["abc!"] }],
    ["a number that is text", { user: "ada", code: "abc!" }],
    ["deep inside", { user: "ada", nested: { key: { "abc!": 1 } } }],
    ["in a list", { user: "ada", list: [{ pin: { a: "abc!" } }] }],
    ["under any name", { user: "ada", any: { x: ["abc!"] } }],
  ])(
    "that is refused (%s): the message names the field and does not quote it",
    async (_, given) => {
      verifies("REDACT-2", "SCHEMA-4");
      const { text, said } = await calledWith({}, given);
      const field = Object.keys(given)[1] ?? "";
      expect(said).toContain(field);
      expect(text).not.toContain("abc!");
    },
  );

  test("of a tool that does not exist any more, or is not loaded yet: all the same", async () => {
    verifies("REDACT-2");
    const { text } = await calledWith({ defer: true });
    expect(text).not.toContain("otter");
    const excluded = await calledWith({ isEnabled: () => false });
    expect(excluded.text).not.toContain("otter");
  });

  test("of a tool from a server, and of a Zod schema with the mark", async () => {
    verifies("REDACT-2");
    const remote = watchedReader("mcp.bank.login", { input_schema: schema, handler: () => "done" });
    const sources: ToolSource[] = [{ id: "bank", kind: "mcp", tools: [remote.tool] }];
    const world = await createWatchedWorld({ sources });
    await world.execute({ name: "mcp.bank.login", arguments: input });
    expect(remote.inputs).toEqual([input]);
    expect(world.allText()).not.toContain("otter");

    const zod = z.object({ pin: z.string().meta({ "x-sensitive": true }) });
    const local = await calledWith({ input_schema: zod }, { pin: PIN });
    expect(local.inputs).toEqual([{ pin: PIN }]);
    expect(local.text).not.toContain("otter");
  });
});

describe("of a mutation", () => {
  test("by normalise, by the author's schema and by a hook", async () => {
    verifies("REDACT-2");
    const normalised = await calledWith({
      normalise: (given) => ({ ...(given as JsonObject), pin: `${PIN}-n` }),
    });
    expect(normalised.world.facts("input.mutated")).toHaveLength(1);
    expect(normalised.text).not.toContain("otter");
    expect(normalised.inputs[0]?.["pin"]).toBe(`${PIN}-n`);

    const zod = z.object({
      user: z.string(),
      pin: z.string().default(PIN).meta({ "x-sensitive": true }),
    });
    const defaulted = await calledWith({ input_schema: zod }, { user: "ada" });
    expect(defaulted.inputs).toEqual([{ user: "ada", pin: PIN }]);
    expect(defaulted.world.facts("input.mutated")).toHaveLength(1);

    const hooks = [
      pre("h", (given) =>
        given["user"] === "eve" ? {} : { input: { user: "eve", pin: `${PIN}-h` } },
      ),
    ];
    const hooked = await calledWith({}, input, { hooks });
    expect(hooked.inputs).toEqual([{ user: "eve", pin: `${PIN}-h` }]);
    expect(hooked.world.facts("input.mutated")[0]?.data).toMatchObject({ source: "hook:h" });
    expect(hooked.text).not.toContain("otter");
  });

  test("a hook that hands a redacted field back gives the handler the real value", async () => {
    verifies("REDACT-2", "HOOK-2");
    const hooks = [pre("h", (given) => ({ input: { ...given, user: "eve" } }))];
    const { inputs } = await calledWith({}, input, { hooks });
    expect(inputs).toEqual([{ ...input, user: "eve" }]);
  });

  test("a placeholder the model writes into a sensitive field is only text", async () => {
    verifies("REDACT-2");
    const hooks = [pre("h", (given) => ({ input: { ...given, user: "eve" } }))];
    const given = { user: "ada", pin: "[redacted:sensitive]", password: PIN };
    const { inputs } = await calledWith({}, given, { hooks });
    expect(inputs).toEqual([{ ...given, user: "eve" }]);
  });
});

describe("of an output", () => {
  const output_schema: JsonObject = {
    type: "object",
    properties: {
      name: { type: "string" },
      pin: { type: "string", "x-sensitive": true },
      rows: {
        type: "array",
        items: { type: "object", properties: { pin: { type: "string", writeOnly: true } } },
      },
    },
    required: ["name"],
  };
  const output = { name: "ada", pin: PIN, rows: [{ pin: PIN, n: 1 }] };

  test("is redacted in result, node, fact and the hook's payload", async () => {
    verifies("REDACT-2");
    const seen: unknown[] = [];
    const hooks = [
      defineHook({
        id: "h",
        event: "PostToolUse",
        run: ({ result }) => void seen.push(result.data),
      }),
    ];
    const { text, world } = await calledWith(
      { output_schema, handler: () => output },
      { user: "ada" },
      { hooks, policy: allowAll },
    );
    expect(text).not.toContain("otter");
    const clean = {
      name: "ada",
      pin: "[redacted:sensitive]",
      rows: [{ pin: "[redacted:sensitive]", n: 1 }],
    };
    expect(world.facts("tool.completed")[0]?.data.result).toMatchObject({ data: clean });
    expect(seen).toEqual([clean]);
  });

  test("that does not fit its schema is not quoted either", async () => {
    verifies("REDACT-2", "SCHEMA-7");
    for (const bad of [
      { pin: PIN },
      { name: "ada", pin: [PIN] },
      { name: 7, pin: PIN, rows: [{ pin: { a: PIN } }] },
    ]) {
      const { text, said } = await calledWith(
        { output_schema, handler: () => bad },
        { user: "ada" },
      );
      expect(said).toContain("output_schema");
      expect(text).not.toContain("otter");
    }
  });

  test("that is too long to show leaves a preview without it", async () => {
    verifies("REDACT-2");
    const rows = Array.from({ length: 100 }, () => ({ pin: PIN }));
    const { text, world } = await calledWith(
      { output_schema, max_result_chars: 200, handler: () => ({ name: "ada", rows }) },
      { user: "ada" },
    );
    expect(world.facts("output.truncated")).toHaveLength(1);
    expect(text).not.toContain("otter");
  });
});

test("explaining a call shows as little as a record would", async () => {
  verifies("REDACT-2", "PERM-11");
  const { tool } = watchedWriter("bank.login", { input_schema: schema });
  const world = await createWatchedWorld({ tools: [tool] });
  const explained = await world.run.explain({ name: "bank.login", arguments: input });
  expect(explained).toMatchObject({
    outcome: "ask",
    observable_input: { user: "ada", pin: "[redacted:sensitive]" },
  });
  expect(JSON.stringify(explained)).not.toContain("otter");
});
