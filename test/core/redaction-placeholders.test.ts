// Placeholders (REDACT-1): stable within a run, put back only for the hook that was given them, and never a
// way for the model to get at what they stand for. And where bytes stay as they are.

import {
  createRedactor,
  type AnyTool,
  type JsonObject,
  type ToolResult,
  type ToolSource,
} from "@soong/core";
import { ARGUMENTS_NAME } from "@soong/core/internal";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { callOnce } from "./call-once.ts";
import { pre } from "./pre-hook.ts";
import { BOTH, createWatchedWorld, KNOWN, leaksIn, SECRETS, TOKEN } from "./secrets.ts";
import { watchedReader, watchedWriter } from "./watched.ts";
import { allowAll, createWorld, reader, textOf, type World } from "./world.ts";

const KNOWN_PLACEHOLDER = "[redacted:DB_PASSWORD]";
const OTHER = `ghp_${"Z9y8X7w6V5u4".repeat(3)}`;
const placeholdersIn = (text: string): string[] => text.match(/\[redacted:[^\]]+\]/g) ?? [];

describe("within a run", () => {
  test("one secret has one placeholder, in every call and every record", async () => {
    verifies("REDACT-1");
    const world = await createWatchedWorld({ tools: [reader("notes.read")] });
    const call = (text: string) => ({ name: "notes.read", arguments: { text } });
    const [first, second] = await world.execute(call(TOKEN), call(OTHER));
    const [third] = await world.execute(call(`${OTHER} ${TOKEN} ${KNOWN}`));
    const [one, two] = [textOf(first), textOf(second)].map((text) => placeholdersIn(text)[0]);
    expect(one).toBeDefined();
    expect(two).toBeDefined();
    expect(one).not.toBe(two);
    expect(placeholdersIn(textOf(third))).toEqual([two, one, KNOWN_PLACEHOLDER]);
    expect(new Set(placeholdersIn(world.allText()))).toEqual(
      new Set([one, two, KNOWN_PLACEHOLDER]),
    );
  });

  test("explaining a call in between does not shift them", async () => {
    verifies("REDACT-1", "PERM-11");
    const world = await createWatchedWorld({ tools: [reader("notes.read")] });
    const call = (text: string) => ({ name: "notes.read", arguments: { text } });
    const [before] = await world.execute(call(TOKEN));
    await world.run.explain(call(OTHER));
    const [after] = await world.execute(call(TOKEN));
    expect(textOf(after)).toBe(textOf(before));
  });
});

describe("for a hook", () => {
  const passOn = (change: (input: JsonObject) => JsonObject) =>
    pre("h", (input) => ({ input: change(input) }));

  test("what it hands back unchanged becomes the real value for the handler", async () => {
    verifies("REDACT-1", "HOOK-2");
    const seen: JsonObject[] = [];
    const tool = watchedWriter("notes.edit");
    const input = { a: KNOWN, b: { c: [`x ${TOKEN} y`] }, n: 1 };
    const hook = pre("h", (given) => {
      seen.push(given);
      return { input: { ...given, n: 2 } };
    });
    const { world } = await callOnce(tool, input, { hooks: [hook], secrets: SECRETS });
    expect(leaksIn(JSON.stringify(seen))).toEqual([]);
    expect(tool.inputs).toEqual([{ ...input, n: 2 }]);
    expect(leaksIn(JSON.stringify(world.journal.facts))).toEqual([]);
  });

  test("what it moves to another field or into a longer text does, too", async () => {
    verifies("REDACT-1", "HOOK-2");
    const tool = watchedWriter("notes.edit");
    const hooks = [
      passOn((input) => ("a" in input ? { header: `Bearer ${input["a"] as string}` } : input)),
    ];
    await callOnce(tool, { a: KNOWN }, { hooks, secrets: SECRETS });
    expect(tool.inputs).toEqual([{ header: `Bearer ${KNOWN}` }]);
  });

  test("a placeholder it makes up is only text", async () => {
    verifies("REDACT-1");
    const tool = watchedReader("notes.read");
    const hooks = [passOn((input) => ({ ...input, extra: KNOWN_PLACEHOLDER }))];
    await callOnce(tool, { a: "nothing" }, { hooks, secrets: SECRETS });
    expect(tool.inputs).toEqual([{ a: "nothing", extra: KNOWN_PLACEHOLDER }]);
  });

  test("a placeholder of an earlier call is only text in this one", async () => {
    verifies("REDACT-1");
    const tool = watchedReader("notes.read");
    let earlier = "";
    const hook = pre("h", (input) => {
      if (earlier === "") {
        earlier = input["a"] as string;
        return {};
      }
      return { input: { a: earlier } };
    });
    const world = await createWorld({ tools: [tool.tool], hooks: [hook], secrets: SECRETS });
    await world.execute({ name: "notes.read", arguments: { a: TOKEN } });
    await world.execute({ name: "notes.read", arguments: { a: "plain" } });
    expect(tool.inputs[1]).toEqual({ a: earlier });
    expect(earlier).toContain("[redacted:");
  });
});

describe("for the model", () => {
  test.each<[string, JsonObject]>([
    ["alone", { a: KNOWN_PLACEHOLDER }],
    ["in a text", { a: `curl -H ${KNOWN_PLACEHOLDER}` }],
    ["as a name", { [KNOWN_PLACEHOLDER]: 1 }],
    ["beside the real thing", { a: KNOWN_PLACEHOLDER, b: KNOWN }],
    ["within a text that holds the real thing", { a: `${KNOWN_PLACEHOLDER} ${KNOWN}` }],
  ])("a placeholder it writes itself (%s) reaches the handler unchanged", async (_, input) => {
    verifies("REDACT-1");
    const touch = pre("h", (given) => ({ input: { ...given, touched: true } }));
    const move = pre("h", (given) =>
      "c" in given ? {} : { input: { ...given, c: given["a"] ?? 1 } },
    );
    for (const hooks of [[], [touch], [move]]) {
      const tool = watchedWriter("notes.edit");
      await callOnce(tool, input, { hooks, secrets: SECRETS });
      const [got] = tool.inputs;
      for (const [key, value] of Object.entries(input)) expect(got?.[key]).toEqual(value);
      if (!JSON.stringify(input).includes(KNOWN)) expect(JSON.stringify(got)).not.toContain(KNOWN);
    }
  });

  test("a hook that copies what the model wrote does not turn it into the secret beside it", async () => {
    verifies("REDACT-1");
    const tool = watchedWriter("notes.edit");
    const copy = pre("h", (given) =>
      "c" in given ? {} : { input: { ...given, c: given["a"] ?? "" } },
    );
    await callOnce(tool, { a: KNOWN_PLACEHOLDER, b: KNOWN }, { hooks: [copy], secrets: SECRETS });
    expect(tool.inputs).toEqual([{ a: KNOWN_PLACEHOLDER, b: KNOWN, c: KNOWN_PLACEHOLDER }]);
  });
});

describe("tools whose text must stay usable", () => {
  const read = (about: Partial<AnyTool> = {}): AnyTool =>
    reader("notes.read", 0, {
      redaction: "known_values",
      handler: () => `line\n${BOTH}\n`,
      ...about,
    });

  test("keep look-alikes and lose known values", async () => {
    verifies("REDACT-1");
    const world = await createWatchedWorld({ tools: [read()] });
    const [result] = await world.execute({ name: "notes.read", arguments: {} });
    expect(textOf(result)).toBe(`line\npw ${KNOWN_PLACEHOLDER} key ${TOKEN}.\n`);
    expect(world.allText()).not.toContain(KNOWN);
  });

  test("have no such right over arguments, errors and progress", async () => {
    verifies("REDACT-1");
    const tool = read({
      handler: (_, context) => {
        context.progress({ message: BOTH });
        throw new Error(BOTH);
      },
    });
    const world = await createWatchedWorld({ tools: [tool] });
    await world.execute({ name: "notes.read", arguments: { a: BOTH } });
    expect(leaksIn(world.allText())).toEqual([]);
  });

  test("have to come from a source that is trusted", async () => {
    verifies("REDACT-1");
    const tools = [{ ...read(), name: "mcp.docs.read" }];
    const sources: ToolSource[] = [{ id: "docs", kind: "mcp", tools }];
    const world = await createWatchedWorld({ sources, policy: allowAll });
    const [result] = await world.execute({ name: "mcp.docs.read", arguments: {} });
    expect(textOf(result)).toContain("line");
    expect(leaksIn(world.allText())).toEqual([]);
  });
});

describe("artifacts", () => {
  async function bytesOf(world: World, result: ToolResult | undefined): Promise<string> {
    const bytes = await world.artifacts.read(result?.artifacts[0]?.artifact_id ?? "");
    return new TextDecoder().decode(bytes);
  }

  test("keep their bytes raw, while the preview of them is redacted", async () => {
    verifies("REDACT-1");
    const text = `${BOTH}\n`.repeat(100);
    const tool = reader("notes.read", 0, { max_result_chars: 200, handler: () => text });
    const world = await createWatchedWorld({ tools: [tool] });
    const [result] = await world.execute({ name: "notes.read", arguments: {} });
    expect(await bytesOf(world, result)).toBe(text);
    expect(leaksIn(world.allText(result))).toEqual([]);
  });

  test("that a tool writes itself are its own bytes, too", async () => {
    verifies("REDACT-1");
    const tool = reader("notes.read", 0, {
      handler: async (_, context) => {
        const ref = await context.artifacts.write(BOTH, { media_type: "text/plain" });
        return { ok: true, artifacts: [ref], summary: "kept" };
      },
    });
    const world = await createWatchedWorld({ tools: [tool] });
    const [result] = await world.execute({ name: "notes.read", arguments: {} });
    expect(await bytesOf(world, result)).toBe(BOTH);
    expect(leaksIn(world.allText(result))).toEqual([]);
  });

  test("of long arguments are raw as well, and only referred to", async () => {
    verifies("REDACT-1");
    const world = await createWatchedWorld({
      tools: [reader("notes.read", 0, { handler: () => "done" })],
    });
    const input = { text: `${BOTH}\n`.repeat(1000) };
    await world.execute({ name: "notes.read", arguments: input });
    expect(world.facts("artifact.created")[1]?.data).toMatchObject({ name: ARGUMENTS_NAME });
    expect(leaksIn(world.allText())).toEqual([]);
  });
});

test("the handler works with the real values, not with those of the record", async () => {
  verifies("REDACT-1");
  const tool = watchedReader("notes.read");
  await callOnce(tool, { a: BOTH }, { secrets: SECRETS });
  expect(tool.inputs).toEqual([{ a: BOTH }]);
  // The placeholders above are those of any redactor with these secrets.
  expect(createRedactor({ secrets: SECRETS }).text(KNOWN)).toBe(KNOWN_PLACEHOLDER);
});
