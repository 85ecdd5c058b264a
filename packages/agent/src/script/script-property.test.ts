import { verifies } from "#laws";
import fc from "fast-check";
import { createHeldClock, type JsonObject } from "@soong/core";
import { describe, expect, test } from "vitest";
import { anyCharacter } from "../../../../test/any-character.ts";
import { parseScript, printScript } from "./check-script.ts";
import { FAILURE_KINDS, STOPS, type Script, type ScriptCall, type ScriptTurn } from "./script.ts";
import { scriptedModel } from "./scripted-model.ts";
import { argumentPieces, wordPieces } from "./play-turn.ts";

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom("\ud83d", "\ude00", "a", "\n", " ", "#", ":") }),
  fc.lorem(),
);
const someText = anyText.filter((text) => text !== "");
const ms = fc.integer({ min: 0, max: 5000 });
const optional = { noNullPrototype: true };

const callFields = { id: someText, after_ms: ms };
const input = fc.dictionary(anyText, fc.jsonValue({ maxDepth: 2 })) as fc.Arbitrary<JsonObject>;
const anyCall: fc.Arbitrary<ScriptCall> = fc.oneof(
  fc.record({ tool: someText, input, ...callFields }, { ...optional, requiredKeys: ["tool"] }),
  fc.record(
    { tool: someText, input_text: anyText, ...callFields },
    { ...optional, requiredKeys: ["tool"] },
  ),
);

const kind = fc.constantFrom(...FAILURE_KINDS);
const anyError = fc.oneof(
  kind,
  fc.record({ kind, after_ms: ms }, { ...optional, requiredKeys: ["kind"] }),
  fc.record({ kind: fc.constant("rate_limited" as const), retry_after_ms: ms }, optional),
);

const anyPart = fc.oneof(
  fc.record({ text: anyText, after_ms: ms }, { ...optional, requiredKeys: ["text"] }),
  fc.record({ call: anyCall }, optional),
);

const anyTurn: fc.Arbitrary<ScriptTurn> = fc.oneof(
  fc.record(
    { text: anyText, calls: fc.array(anyCall, { maxLength: 3 }), stop: fc.constantFrom(...STOPS) },
    { ...optional, requiredKeys: ["text"] },
  ),
  fc.record({ text: anyText, error: anyError }, { ...optional, requiredKeys: ["error"] }),
  fc
    .tuple(fc.array(anyPart, { maxLength: 4 }), fc.option(anyError))
    .map(([parts, error]) => ({ parts: error === null ? parts : [...parts, { error }] })),
);

const turns = fc.array(anyTurn, { maxLength: 3 });
const anyScript: fc.Arbitrary<Script> = fc.record(
  { turns, agents: fc.dictionary(someText, fc.array(turns, { maxLength: 2 }), { maxKeys: 2 }) },
  { ...optional, requiredKeys: ["turns"] },
);

/** Every event of every turn, each with its time. */
async function played(script: Script): Promise<unknown[]> {
  const clock = createHeldClock();
  const model = scriptedModel(script, { clock });
  const seen: unknown[] = [];
  const asks: { agent_definition_id?: string; run_id?: string }[] = script.turns.map(() => ({}));
  for (const [id, starts] of Object.entries(script.agents ?? {})) {
    for (const [start, list] of starts.entries()) {
      asks.push(...list.map(() => ({ agent_definition_id: id, run_id: `${start}` })));
    }
  }
  const done = (async () => {
    for (const [index, ask] of asks.entries()) {
      const request = { index, system: [], messages: [], tools: [], ...ask };
      for await (const event of model.stream(request, new AbortController().signal)) {
        seen.push([clock.now(), event]);
      }
    }
  })();
  for (let ended = false; !ended;) {
    ended = await Promise.race([done.then(() => true), clock.advance(10_000).then(() => false)]);
  }
  return seen;
}

describe("any script", () => {
  test("that is printed and read again plays the same", async () => {
    verifies("SCRIPT-1");
    await fc.assert(
      fc.asyncProperty(anyScript, async (script) => {
        const parsed = parseScript(printScript(script), "printed.yaml");
        expect(parsed).toMatchObject({ ok: true });
        if (parsed.ok) expect(await played(parsed.script)).toEqual(await played(script));
      }),
      { numRuns: 60 },
    );
  });

  test("that has the same turn in many places is printed in full", () => {
    const again: ScriptTurn = { text: "again" };
    const script = { turns: Array.from({ length: 200 }, () => again) };
    expect(parseScript(printScript(script), "printed.yaml")).toEqual({ ok: true, script });
  });

  test("that is written as JSON is read as what it says", () => {
    fc.assert(
      fc.property(anyScript, (script) => {
        const text = JSON.stringify(script);
        expect(parseScript(text, "s.json")).toEqual({
          ok: true,
          script: JSON.parse(text) as unknown,
        });
      }),
      { numRuns: 60 },
    );
  });
});

const HALF_CHARACTER = /\p{Surrogate}/u;

describe("any text", () => {
  test("becomes a script or problems with positions, and never throws", () => {
    const pieces = fc.constantFrom(
      "turns",
      ":",
      " ",
      "\n",
      "- ",
      "{",
      "}",
      "[",
      "]",
      "text",
      "a",
      '"',
      "&x",
      "*x",
      ",",
      "? ",
      "|",
      "!!",
      "1",
      "%",
      "---\n",
      "\t",
    );
    const yamlish = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(yamlish, anyText), (text) => {
        const parsed = parseScript(text, "s.yaml");
        if (parsed.ok) return;
        expect(parsed.problems.length).toBeGreaterThan(0);
        for (const { line, column, message } of parsed.problems) {
          expect(message).not.toBe("");
          expect(line).toBeGreaterThan(0);
          expect(line).toBeLessThanOrEqual(text.split("\n").length);
          expect(column).toBeGreaterThan(0);
        }
      }),
      { numRuns: 400 },
    );
  });

  test("is streamed in bounded pieces that give it again", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: "grapheme", maxLength: 2000 })), (text) => {
        for (const pieces of [wordPieces(text), argumentPieces(text)]) {
          expect(pieces.join("")).toBe(text);
          expect(pieces.length).toBeLessThanOrEqual(65);
        }
        if (!HALF_CHARACTER.test(text)) {
          for (const piece of argumentPieces(text)) expect(piece).not.toMatch(HALF_CHARACTER);
        }
      }),
    );
    expect(wordPieces("word ".repeat(10_000)).length).toBeLessThanOrEqual(65);
    expect(argumentPieces("x".repeat(10_000)).length).toBe(8);
  });
});
