import type { ContentBlock, JsonValue, ToolResult } from "@soong/core";
import { expect, it } from "vitest";
import { mapResult } from "./map-result.ts";
import { withFoundTools } from "./list-tools.ts";

function result(content: ContentBlock[], more: Partial<ToolResult> = {}): ToolResult {
  return {
    tool_call_id: "1",
    tool_name: "a.b",
    status: "succeeded",
    is_error: false,
    content,
    summary: "in short",
    artifacts: [],
    metadata: { duration_ms: 1, provenance: { source_kind: "code", source_id: "code" } },
    ...more,
  };
}

const text = (words: string): { type: "text"; text: string } => ({ type: "text", text: words });
const artifact = { artifact_id: "A1", media_type: "text/plain", size: 5, sha256: "0" };

it("leaves plain text as it is", () => {
  expect(mapResult(result([text("hello")]), "read")).toEqual({
    content: [text("hello")],
    isError: false,
  });
});

it("says an error in both places", () => {
  const failed = result([text("it broke"), { type: "json", json: { at: 1 } }], {
    is_error: true,
    data: { at: 1 },
  });
  expect(mapResult(failed, "read")).toEqual({
    content: [text("it broke"), text('{"at":1}')],
    structuredContent: { at: 1, soong_text: "it broke" },
    isError: true,
  });
});

it("does not say data twice that a server has mirrored already", () => {
  const data: JsonValue = { a: [1], b: "x" };
  const mirrored = result([text('{\n  "a": [1],\n  "b": "x"\n}')], { data });
  const { content, structuredContent } = mapResult(mirrored, "read");
  expect(content).toEqual(mirrored.content);
  expect(structuredContent).toEqual(data);
});

it("shows each side everything where words and data differ", () => {
  const { content, structuredContent } = mapResult(result([text("{no")], { data: [1, 2] }), "read");
  expect(content).toEqual([text("{no"), text("[1,2]")]);
  expect(structuredContent).toEqual({ result: [1, 2], soong_text: "{no" });
});

it("says where the rest is, and how to read it only where it can be read", () => {
  const shortened = result([text("head … tail"), { type: "artifact_ref", ...artifact }], {
    artifacts: [artifact],
    metadata: {
      duration_ms: 1,
      provenance: { source_kind: "code", source_id: "code" },
      truncation: { original_chars: 500, kept_chars: 10, artifact_id: "A1" },
    },
  });
  const rest =
    "shortened from 500 to 10 characters; all of it is artifact A1 (text/plain, 5 bytes).";
  expect(mapResult(shortened, "read").content).toEqual([
    text("head … tail"),
    text(`[Soong: ${rest} Read it with read {"artifact_id": "A1"}.]`),
  ]);
  expect(mapResult(shortened, undefined).content[1]).toEqual(text(`[Soong: ${rest}]`));
});

it("names a few of many artifacts and is never empty", () => {
  const many = Array.from({ length: 9 }, (_, i) => ({ ...artifact, artifact_id: `A${i}` }));
  const [notice] = mapResult(result([], { artifacts: many }), "read").content;
  expect((notice as { text: string }).text).toContain("and 4 more artifacts");
  expect(mapResult(result([]), "read").content).toEqual([text("in short")]);
});

it("leaves a schema out of a search's answer that would make it too long", () => {
  const names = { toWire: (name: string) => name.replace(".", "__"), toCanonical: () => undefined };
  const tool = (name: string, size: number) => ({
    name,
    description: "d".repeat(size),
    input_schema: { type: "object" as const },
  });
  const found = result([], { data: { loaded: ["a.big", "a.small"], already_loaded: ["a.gone"] } });
  const { data } = withFoundTools(found, {
    tools: [tool("a__big", 10_000), tool("a__small", 5)],
    deferred: [],
    unlisted: { count: 0, sources: [] },
    names,
  });
  expect((data as { callable: unknown }).callable).toEqual([
    { name: "a__big", input_schema: "too long for this answer: see tools/list" },
    { name: "a__small", description: "ddddd", input_schema: { type: "object" } },
  ]);
  const nothing = result([], { data: { loaded: [] } });
  expect(
    withFoundTools(nothing, {
      tools: [],
      deferred: [],
      unlisted: { count: 0, sources: [] },
      names,
    }),
  ).toBe(nothing);
});
