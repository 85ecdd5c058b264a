import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { ModelRequest } from "../model/index.ts";
import { preflight } from "./preflight.ts";
import {
  ANTHROPIC_PROFILE,
  GOOGLE_PROFILE,
  OPENAI_COMPATIBLE_PROFILE,
  OPENAI_PROFILE,
  type ProviderProfile,
} from "./profile.ts";
import { strictFlag } from "./call-options.ts";

const PROFILES = [ANTHROPIC_PROFILE, OPENAI_PROFILE, GOOGLE_PROFILE, OPENAI_COMPATIBLE_PROFILE];

function tool(name: string, input_schema: object = { type: "object", properties: {} }) {
  return { name, description: "", input_schema: input_schema as Record<string, unknown> };
}

function request(parts: Partial<ModelRequest>): ModelRequest {
  return { index: 1, system: [], messages: [], tools: [], ...parts };
}

describe("preflight", () => {
  test.each(PROFILES)("lets an ordinary request pass: $id", (profile) => {
    verifies("MODEL-2");
    const tools = [tool("core__list_files"), tool("core__read_file")];
    const content = [{ type: "image" as const, media_type: "image/png", data: "" }];
    expect(preflight(request({ tools, messages: [{ role: "user", content }] }), profile)).toBe(
      undefined,
    );
  });

  test.each(PROFILES)("names the tool whose name does not fit, and the rule: $id", (profile) => {
    verifies("MODEL-2");
    for (const name of ["core.list_files", "", "a".repeat(profile.names.max_length + 1), "ä"]) {
      const error = preflight(request({ tools: [tool("fine"), tool(name)] }), profile);
      expect(error?.kind).toBe("unsupported_capability");
      expect(error?.message).toContain(`the tool name "${name}" must be 1 to`);
      expect(error?.message).toContain(`"${profile.id}"`);
    }
    const longest = "a".repeat(profile.names.max_length);
    expect(preflight(request({ tools: [tool(longest)] }), profile)).toBeUndefined();
  });

  test("minds which characters a name may begin with", () => {
    verifies("MODEL-2");
    const digits = request({ tools: [tool("7zip")] });
    expect(preflight(digits, OPENAI_PROFILE)).toBeUndefined();
    expect(preflight(digits, GOOGLE_PROFILE)?.message).toContain('"7zip"');
  });

  test("names the limit of tools", () => {
    verifies("MODEL-2");
    const tools = Array.from({ length: 129 }, (_, index) => tool(`t${index}`));
    expect(preflight(request({ tools }), OPENAI_PROFILE)?.message).toContain(
      "129 tools are loaded and at most 128",
    );
    expect(preflight(request({ tools: tools.slice(1) }), OPENAI_PROFILE)).toBeUndefined();
    expect(preflight(request({ tools }), ANTHROPIC_PROFILE)).toBeUndefined();
  });

  test("names two tools of one name", () => {
    verifies("MODEL-2");
    const error = preflight(request({ tools: [tool("same"), tool("same")] }), OPENAI_PROFILE);
    expect(error?.message).toContain('two tools have the name "same"');
  });

  test("names the keyword and the tool that uses it", () => {
    verifies("MODEL-2");
    const refusing: ProviderProfile = { ...ANTHROPIC_PROFILE, refused_keywords: ["pattern"] };
    const inside = { type: "object", properties: { a: { type: "string", pattern: "^x" } } };
    const tools = [tool("fine"), tool("picky", inside)];
    expect(preflight(request({ tools }), refusing)?.message).toContain(
      'the schema of the tool "picky" uses pattern',
    );
    expect(preflight(request({ tools }), ANTHROPIC_PROFILE)).toBeUndefined();
  });

  test("names the keyword at the root of a schema", () => {
    verifies("MODEL-2");
    const either = { anyOf: [{ type: "object", properties: {} }] };
    const outer = request({ tools: [tool("either", either)] });
    expect(preflight(outer, OPENAI_PROFILE)?.message).toContain('"either" begins with anyOf');
    const inner = { type: "object", properties: { a: { anyOf: [{ type: "string" }] } } };
    expect(preflight(request({ tools: [tool("t", inner)] }), OPENAI_PROFILE)).toBeUndefined();
  });

  test("names what is outside the core subset, and where", () => {
    verifies("MODEL-2");
    const extended = {
      type: "object",
      properties: { a: { type: "object", patternProperties: { "^x": { type: "string" } } } },
    };
    const tools = [tool("extended", extended)];
    const message = preflight(request({ tools }), GOOGLE_PROFILE)?.message;
    expect(message).toContain('"extended" uses patternProperties at /properties/a');
    expect(preflight(request({ tools }), ANTHROPIC_PROFILE)).toBeUndefined();
  });

  test("names pictures and several calls where they are not taken", () => {
    verifies("MODEL-2");
    const plain: ProviderProfile = {
      ...OPENAI_COMPATIBLE_PROFILE,
      parallel_calls: false,
      images: { user: false, tool_results: false },
    };
    const content = [{ type: "image" as const, media_type: "image/png", data: "" }];
    const picture = request({ messages: [{ role: "user", content }] });
    expect(preflight(picture, plain)?.message).toContain("a user message holds an image");
    const call = { tool_call_id: "c", name: "t", arguments: "{}" };
    const calls = (count: number) =>
      request({
        messages: [
          { role: "assistant", text: "", calls: Array.from({ length: count }, () => call) },
        ],
      });
    expect(preflight(calls(2), plain)?.message).toContain("holds 2 calls");
    expect(preflight(calls(1), plain)).toBeUndefined();
    expect(preflight(calls(2), OPENAI_PROFILE)).toBeUndefined();
  });
});

describe("the strict flag", () => {
  const closed = (properties: object, required = Object.keys(properties)) => ({
    type: "object",
    properties,
    required,
    additionalProperties: false,
  });

  test("is not said at all where the provider has no such thing", () => {
    verifies("MODEL-2");
    expect(strictFlag(closed({}), ANTHROPIC_PROFILE.strict)).toBeUndefined();
  });

  test.each([
    ["all properties required", closed({ a: { type: "string" } }), true],
    ["an optional property", closed({ a: { type: "string" } }, []), false],
    ["open to others", { ...closed({}), additionalProperties: true }, false],
    ["silent about others", { type: "object", properties: {} }, false],
    ["closed inside", closed({ a: closed({ b: { type: "string" } }) }), true],
    ["open inside", closed({ a: { type: "object", properties: {} } }), false],
    ["open inside a list", closed({ a: { type: "array", items: { type: "object" } } }), false],
    ["open inside a union", closed({ a: { anyOf: [{ type: ["object", "null"] }] } }), false],
    ["open among the definitions", { ...closed({}), $defs: { a: { type: "object" } } }, false],
    ["a keyword outside the rules", closed({ a: { type: "array", uniqueItems: true } }), false],
    ["a property named like a keyword", closed({ not: { type: "string" } }), true],
  ])("is true only of what the provider can promise: %s", (_, schema, expected) => {
    verifies("MODEL-2");
    expect(strictFlag(schema as Record<string, unknown>, OPENAI_PROFILE.strict)).toBe(expected);
  });
});
