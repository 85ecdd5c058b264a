// DEF-6: one object for a tool, with a schema of any library that can tell it as JSON Schema.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import * as core from "@soong/core";
import { defineTool, RegistrationError, tool, toolsOf, type AnyTool } from "@soong/core";
import { type } from "arktype";
import { transform } from "esbuild";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { verifies } from "#laws";
import type * as decorated from "./decorated-notes.ts";
import { personWho } from "./people.ts";
import { thrownBy } from "./sources.ts";
import { allowAll, createWorld, textOf } from "./world.ts";

const about = { description: "Opens an issue", permission: "readonly" as const };
const got: unknown[] = [];

/** The same tool written with four kinds of schema, each with its handler's input typed by it. */
const withZod = defineTool({
  ...about,
  name: "issues.zod",
  input_schema: z.object({ title: z.string(), labels: z.array(z.string()).optional() }),
  handler(input) {
    expectTypeOf(input).toEqualTypeOf<{ title: string; labels?: string[] | undefined }>();
    got.push(input);
    return input.title;
  },
});

const withValibot = defineTool({
  ...about,
  name: "issues.valibot",
  input_schema: toStandardJsonSchema(
    v.object({ title: v.string(), labels: v.optional(v.array(v.string())) }),
  ),
  handler(input) {
    expectTypeOf(input).toEqualTypeOf<{ title: string; labels?: string[] | undefined }>();
    got.push(input);
    return input.title;
  },
});

const withArktype = defineTool({
  ...about,
  name: "issues.arktype",
  input_schema: type({ title: "string", "labels?": "string[]" }),
  handler(input) {
    expectTypeOf(input).toEqualTypeOf<{ title: string; labels?: string[] }>();
    got.push(input);
    return input.title;
  },
});

const withJsonSchema = defineTool({
  ...about,
  name: "issues.json",
  input_schema: {
    type: "object",
    properties: { title: { type: "string" }, labels: { type: "array", items: { type: "string" } } },
    required: ["title"],
  },
  handler(input) {
    expectTypeOf(input).toEqualTypeOf<{ title: string; labels?: string[] }>();
    got.push(input);
    return input.title;
  },
});

const tools: AnyTool[] = [withZod, withValibot, withArktype, withJsonSchema];
const names = tools.map(({ name }) => name);

describe("one object, four kinds of schema", () => {
  it.each(names)("%s is shown to the model as the same plain schema", async (name) => {
    verifies("DEF-6");
    const world = await createWorld({ tools });
    const shown = await world.run.tools();
    const schema = shown.tools.find((one) => one.name === shown.names.toWire(name))?.input_schema;
    expect(schema).toMatchObject({
      type: "object",
      properties: {
        title: { type: "string" },
        labels: { type: "array", items: { type: "string" } },
      },
      required: ["title"],
    });
  });

  it.each(names)("%s takes what fits and hands it to its handler", async (name) => {
    verifies("DEF-6");
    got.length = 0;
    const world = await createWorld({ tools });
    const input = { title: "Broken", labels: ["bug"] };
    const [result] = await world.execute({ name, arguments: JSON.stringify(input) });
    expect([result?.status, textOf(result)]).toEqual(["succeeded", "Broken"]);
    expect(got).toEqual([input]);
  });

  it.each(names)(
    "%s refuses what does not fit, in the same words, and coerces nothing",
    async (name) => {
      verifies("DEF-6", "SCHEMA-2", "SCHEMA-4");
      got.length = 0;
      const world = await createWorld({ tools });
      for (const wrong of [{ title: 5 }, {}, { title: "x", labels: "bug" }, { title: null }]) {
        const [result] = await world.execute({ name, arguments: wrong });
        expect(result?.error).toMatchObject({
          code: "invalid_arguments",
          error_class: "schema_validation_failed",
          recovery: "change_arguments",
        });
        expect(textOf(result)).toContain("labels" in wrong ? "labels" : "title");
      }
      expect(got).toEqual([]);
    },
  );

  it("of anything else are refused with the way out", () => {
    verifies("DEF-6", "REG-2");
    const standard = { version: 1, vendor: "homemade", validate: () => ({ value: {} }) };
    for (const [input_schema, says] of [
      [{ "~standard": standard }, "homemade"],
      [v.object({ title: v.string() }), "toStandardJsonSchema"],
      [undefined, "input_schema"],
      ["string", "input_schema"],
      [z.object({ when: z.date() }), "input_schema"],
    ]) {
      const given = { ...about, name: "issues.odd", input_schema, handler: () => "" };
      const error = thrownBy(() => core.createKernel({ tools: [given as AnyTool] }));
      expect(error).toBeInstanceOf(RegistrationError);
      expect(String(error)).toContain('tool "issues.odd"');
      expect(String(error)).toContain(says);
    }
  });
});

describe("what only the author's own schema knows", () => {
  it("is checked too: a refinement refuses with its own words, at its field", async () => {
    verifies("DEF-6", "SCHEMA-4");
    let ran = 0;
    const even = defineTool({
      ...about,
      name: "numbers.even",
      input_schema: z.object({
        pair: z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even") }),
      }),
      handler: () => (ran += 1),
    });
    const world = await createWorld({ tools: [even] });
    const [odd] = await world.execute({ name: "numbers.even", arguments: { pair: { n: 3 } } });
    expect(odd?.error?.code).toBe("invalid_arguments");
    expect(textOf(odd)).toMatch(/pair\.n.*must be even/);
    const [fine] = await world.execute({ name: "numbers.even", arguments: { pair: { n: 4 } } });
    expect([fine?.status, ran]).toEqual(["succeeded", 1]);
  });

  it("reaches the handler: defaults and transforms, also into what is not JSON", async () => {
    verifies("DEF-6", "SCHEMA-6");
    const seen: unknown[] = [];
    const book = defineTool({
      ...about,
      name: "rooms.book",
      input_schema: z.object({
        room: z.string().default("blue"),
        day: z.string().transform((text) => new Date(text)),
      }),
      handler(input) {
        expectTypeOf(input).toEqualTypeOf<{ room: string; day: Date }>();
        seen.push(input);
        return "booked";
      },
    });
    const world = await createWorld({ tools: [book] });
    const [result] = await world.execute({
      name: "rooms.book",
      arguments: { day: "2026-01-02T00:00:00.000Z" },
    });
    expect(result).toMatchObject({ status: "succeeded" });
    expect(seen).toEqual([{ room: "blue", day: new Date("2026-01-02T00:00:00.000Z") }]);
  });

  it("may be of a kind JSON has no word for, before the user and a plan as well", async () => {
    verifies("DEF-6", "PERM-6");
    const seen: unknown[] = [];
    const pay = defineTool({
      ...about,
      name: "bank.pay",
      permission: "write",
      input_schema: z.object({ cents: z.string().transform((text) => BigInt(text)) }),
      prepare: () => ({ resources: [] }),
      handler: ({ cents }) => void seen.push(cents),
    });
    const person = personWho("allow_once");
    const world = await createWorld({ tools: [pay], ask: person.ask });
    const [result] = await world.execute({ name: "bank.pay", arguments: { cents: "12" } });
    expect(result).toMatchObject({ status: "succeeded" });
    expect(seen).toEqual([12n]);
    expect(JSON.stringify(person.requests[0]?.arguments)).toContain("12");
  });

  it("is what normalise gets, and what it returns is what the handler gets", async () => {
    verifies("DEF-6", "DEF-2");
    const seen: unknown[] = [];
    const book = defineTool({
      ...about,
      name: "rooms.book",
      input_schema: z.object({ day: z.string().transform((text) => new Date(text)) }),
      normalise({ day }) {
        seen.push(day);
        return { day: new Date(day.getTime() + 1) };
      },
      handler: ({ day }) => void seen.push(day),
    });
    const world = await createWorld({ tools: [book] });
    const day = "2026-01-02T00:00:00.000Z";
    const [result] = await world.execute({ id: "c", name: "rooms.book", arguments: { day } });
    expect(result?.status, textOf(result)).toBe("succeeded");
    expect(seen).toEqual([new Date(day), new Date("2026-01-02T00:00:00.001Z")]);
  });

  it("may wait, throw or say nonsense: the call ends either way", async () => {
    verifies("DEF-6", "SCHEMA-4");
    const schemaThat = (validate: () => unknown): AnyTool["input_schema"] => ({
      "~standard": {
        version: 1,
        vendor: "odd",
        validate,
        jsonSchema: { input: () => ({ type: "object" }) },
      },
    });
    let ran = 0;
    const answers: [string, () => unknown, string][] = [
      ["waits", async () => ({ value: {} }), "succeeded"],
      ["throws", () => Promise.reject(new Error("no")), "failed"],
      ["hangs", () => new Promise(() => {}), "failed"],
      ["refuses", () => ({ issues: [{ message: "not today" }] }), "failed"],
      ["nonsense", () => undefined, "failed"],
    ];
    for (const [name, validate, status] of answers) {
      const odd = { ...about, name: `odd.${name}`, input_schema: schemaThat(validate) };
      const world = await createWorld({ tools: [{ ...odd, handler: () => (ran += 1) }] });
      const [result] = await world.execute({ name: odd.name, arguments: {} });
      expect(result?.status, name).toBe(status);
    }
    expect(ran).toBe(1);
  });
});

describe("a class with @tool methods", () => {
  it("gives the tools of each instance, typed and bound to it", async () => {
    verifies("DEF-6");
    const { Notes } = await loadDecorated();
    const [ann, bob] = [new Notes("Ann"), new Notes("Bob")];
    expect(toolsOf(ann).map(({ name }) => name)).toEqual(["notes.add", "notes.list"]);
    expect(toolsOf({})).toEqual([]);
    for (const [owner, notes] of [
      ["Ann", ann],
      ["Bob", bob],
    ] as const) {
      const world = await createWorld({ tools: toolsOf(notes), policy: allowAll });
      const [added] = await world.execute({ name: "notes.add", arguments: { text: "a" } });
      expect(textOf(added)).toBe(`notes.add of ${owner}: a`);
      const [listed] = await world.execute({ name: "notes.list", arguments: { limit: 5 } });
      expect(listed?.data).toEqual(["a"]);
      const [wrong] = await world.execute({ name: "notes.list", arguments: { limit: "5" } });
      expect(wrong?.error?.code).toBe("invalid_arguments");
    }
  });

  it("is type-checked: the method's input is what the schema gives", () => {
    verifies("DEF-6");
    const decorate = tool({
      ...about,
      name: "issues.open",
      input_schema: z.object({ title: z.string() }),
    });
    expectTypeOf<(input: { title: string }) => string>().toExtend<Parameters<typeof decorate>[0]>();
    expectTypeOf<(input: { title: number }) => string>().not.toExtend<
      Parameters<typeof decorate>[0]
    >();
  });
});

/** The class as a build that lowers standard decorators would load it, on this very core. */
async function loadDecorated(): Promise<typeof decorated> {
  const source = readFileSync(new URL("decorated-notes.ts", import.meta.url), "utf8");
  const { code } = await transform(source, { loader: "ts", format: "cjs", target: "es2022" });
  const module = { exports: {} };
  const require = createRequire(import.meta.url);
  const load = (id: string): unknown => (id === "@soong/core" ? core : require(id));
  const run = compileFunction(code, ["require", "module"]) as (...given: unknown[]) => void;
  run(load, module);
  return module.exports as typeof decorated;
}
