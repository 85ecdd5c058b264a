// RESULT-6: whatever is over the inline bound becomes a head, a tail and an artifact that has all of it.

import {
  sha256Hex,
  toolResult,
  ToolFailure,
  type AnyTool,
  type ContentBlock,
  type ToolResult,
} from "@soong/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { declared, server } from "./sources.ts";
import { allowAll, createWorld, reader, textOf, type WorldOptions } from "./world.ts";

const KIB = 1024;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

interface Bounded {
  result: ToolResult;
  /** What was kept of it, as text. */
  kept: string[];
  facts: string[];
}

async function bounded(
  value: unknown,
  about: Partial<AnyTool> = {},
  options: WorldOptions = {},
  ownArtifacts = true,
): Promise<Bounded> {
  const handler = typeof value === "function" ? (value as AnyTool["handler"]) : () => value;
  const world = await createWorld({
    tools: [reader("a.tool", 0, { ...about, handler })],
    ...options,
  });
  const [result] = await world.execute({ name: "a.tool", arguments: {} });
  if (result === undefined) throw new Error("no result");
  const kept: string[] = [];
  for (const { artifact_id, sha256, size } of ownArtifacts ? result.artifacts : []) {
    const bytes = await world.artifacts.read(artifact_id);
    expect(bytes && sha256Hex(bytes)).toBe(sha256);
    expect(bytes?.length).toBe(size);
    kept.push(new TextDecoder().decode(bytes));
  }
  return { result, kept, facts: world.facts().map(({ type }) => type) };
}

/** What a model would be sent of these blocks. */
function read(result: ToolResult): string {
  return result.content
    .filter(({ type }) => type !== "image")
    .map(asText)
    .join("\n");
}

function asText(block: ContentBlock): string {
  return block.type === "text" ? block.text : JSON.stringify(block);
}

describe("a result over the inline bound", () => {
  it("becomes a head and a tail, with all of it in an artifact of the right hash", async () => {
    verifies("RESULT-6", "ART-2");
    const text = Array.from({ length: 20_000 }, (_, i) => `line ${i}`).join("\n");
    const { result, kept, facts } = await bounded(text);
    const [preview, ref] = result.content;
    expect(preview?.type).toBe("text");
    expect(textOf({ ...result, content: result.content.slice(0, 1) })).toMatch(/^line 0\n/);
    expect(textOf({ ...result, content: result.content.slice(0, 1) })).toMatch(/line 19999$/);
    expect(bytesOf(asText(preview as ContentBlock))).toBeLessThanOrEqual(64 * KIB);
    expect(ref).toMatchObject({
      type: "artifact_ref",
      artifact_id: result.artifacts[0]?.artifact_id,
      size: bytesOf(text),
    });
    expect(kept).toEqual([text]);
    expect(result.status).toBe("succeeded");
    expect(result.metadata.truncation).toMatchObject({
      original_chars: text.length,
      artifact_id: result.artifacts[0]?.artifact_id,
    });
    expect(facts).toEqual(expect.arrayContaining(["artifact.created", "output.truncated"]));
  });

  it.each<[string, unknown, string]>([
    ["text", "é".repeat(40_000), "é".repeat(40_000)],
    ["data", { rows: "x".repeat(70_000) }, JSON.stringify({ rows: "x".repeat(70_000) })],
    ["a list", Array(20_000).fill("abc"), JSON.stringify(Array(20_000).fill("abc"))],
    [
      "many small blocks",
      toolResult({
        content: Array.from({ length: 2000 }, () => ({ type: "text", text: "y".repeat(50) })),
      }),
      Array(2000).fill("y".repeat(50)).join("\n"),
    ],
  ])("is so for %s", async (_, value, whole) => {
    verifies("RESULT-6");
    const { result, kept } = await bounded(value);
    expect(bytesOf(read(result))).toBeLessThan(66 * KIB);
    expect(kept.map((text) => text === whole)).toEqual([true]);
    expect(result).not.toHaveProperty("data");
  });

  it("is so for every source and for a failure, whose output reaches the model in part", async () => {
    verifies("RESULT-6", "RESULT-5");
    const output = `first\n${"z".repeat(80_000)}\nlast`;
    const handler = () => {
      throw new ToolFailure({ code: "exit_1", message: "exited with 1" }, [
        { type: "text", text: output },
      ]);
    };
    for (const [name, options] of [
      ["a.tool", { tools: [reader("a.tool", 0, { handler })] }],
      ["d.tool", { sources: [declared("d", [reader("d.tool", 0, { handler })])] }],
      ["mcp.s.tool", { sources: [server("s", [reader("mcp.s.tool", 0, { handler })])] }],
    ] as const) {
      const world = await createWorld({ ...options, policy: allowAll });
      const [result] = await world.execute({ name, arguments: {} });
      expect(result?.status, name).toBe("failed");
      const text = textOf(result);
      for (const part of ["exited with 1", "first", "last"]) expect(text).toContain(part);
      expect(bytesOf(text)).toBeLessThan(66 * KIB);
      const bytes = await world.artifacts.read(result?.artifacts[0]?.artifact_id ?? "");
      expect(new TextDecoder().decode(bytes)).toBe(output);
    }
  });

  it("loses neither text nor data when it has both", async () => {
    verifies("RESULT-6");
    const rows = "r".repeat(70_000);
    const long = "t".repeat(70_000);
    const bigData = await bounded(
      toolResult({ content: [{ type: "text", text: "short" }], data: { rows } }),
    );
    expect(textOf(bigData.result)).toContain("short");
    expect(bigData.kept.join("\n").includes(rows), "the data").toBe(true);
    const bigText = await bounded(
      toolResult({ content: [{ type: "text", text: long }], data: { rows: 2 } }),
    );
    expect(bigText.kept.join("\n").includes(long), "the text").toBe(true);
    const left = [JSON.stringify(bigText.result.data ?? null), ...bigText.kept].join("\n");
    expect(left.includes('{"rows":2}'), "the small data").toBe(true);
  });

  it("keeps whole what cannot be cut: an image too large for any model is in the artifact", async () => {
    verifies("RESULT-6");
    const data = Buffer.alloc(6 * KIB * KIB, 7).toString("base64");
    const { result } = await bounded(
      toolResult({ content: [{ type: "image", media_type: "image/png", data }] }),
    );
    expect(JSON.stringify(result).length).toBeLessThan(66 * KIB);
    const size = Math.max(0, ...result.artifacts.map((artifact) => artifact.size));
    expect(size, "all of its bytes").toBeGreaterThanOrEqual(6 * KIB * KIB);
  });

  it("counts links and references too", async () => {
    verifies("RESULT-6");
    const links: ContentBlock[] = Array.from({ length: 5000 }, (_, i) => ({
      type: "resource_link",
      uri: `https://example.org/a/long/path/to/something/${i}`,
    }));
    const { result, kept } = await bounded(toolResult({ content: links }));
    expect(bytesOf(JSON.stringify(result.content))).toBeLessThan(70 * KIB);
    expect(kept.join("").includes("/something/4999")).toBe(true);
  });

  it("says so when the rest could not be kept, and the call still ends", async () => {
    verifies("RESULT-6");
    const world = await createWorld({
      tools: [reader("a.tool", 0, { handler: () => "x".repeat(100_000) })],
      artifacts: {
        write: () => Promise.reject(new Error("disk full")),
        open: () => raise("disk full"),
        read: async () => undefined,
        stat: async () => undefined,
      },
    });
    const [result] = await world.execute({ name: "a.tool", arguments: {} });
    expect(result?.status).toBe("succeeded");
    expect(textOf(result)).toContain("disk full");
    expect(bytesOf(textOf(result))).toBeLessThan(66 * KIB);
  });
});

describe("of several bounds", () => {
  const text = "0123456789".repeat(1000);

  it.each([
    ["the config's", { config: 2000 }, 2000],
    ["the tool's own", { tool: 1500 }, 1500],
    ["the gateway's", { gateway: 1000 }, 1000],
    ["the config's over the others", { config: 800, tool: 1500, gateway: 2000 }, 800],
    ["the tool's own over the others", { config: 3000, tool: 700, gateway: 2000 }, 700],
    ["the gateway's over the others", { config: 3000, tool: 1500, gateway: 600 }, 600],
  ] as const)("the smallest wins: %s", async (_, bounds, most) => {
    verifies("RESULT-6", "ART-2");
    const { config, tool, gateway } = bounds as {
      config?: number;
      tool?: number;
      gateway?: number;
    };
    const { result, kept } = await bounded(
      text,
      tool === undefined ? {} : { max_result_chars: tool },
      {
        ...(config === undefined ? {} : { config: { tools: { inline_limit_bytes: config } } }),
        ...(gateway === undefined ? {} : { inlineLimitBytes: gateway }),
      },
    );
    const [preview] = result.content;
    const shown = asText(preview as ContentBlock);
    expect(shown.length).toBeLessThanOrEqual(most);
    expect(shown.length).toBeGreaterThan(most / 2);
    expect(kept).toEqual([text]);
  });

  it("none cuts what just fits", async () => {
    verifies("RESULT-6");
    const exact = await bounded("x".repeat(64 * KIB));
    expect([exact.result.artifacts, textOf(exact.result).length]).toEqual([[], 64 * KIB]);
    const over = await bounded("x".repeat(64 * KIB + 1));
    expect(over.result.artifacts).toHaveLength(1);
    const wide = await bounded("é".repeat(32 * KIB));
    expect(wide.result.artifacts, "counted in bytes, not in characters").toEqual([]);
  });

  it.each<[string, unknown]>([
    ["long numbers", Array.from({ length: 100 }, (_, i) => -1.234567890123456e-300 * (1 + i / 7))],
    ["control characters", { out: "\u001b".repeat(900) }],
    ["quotes and backslashes", { out: '"\\'.repeat(900) }],
    [
      "keys",
      Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a rather long key ${i}`, 1])),
    ],
  ])("the tool's own is measured on what the model reads: %s", async (_, value) => {
    verifies("RESULT-6");
    const max_result_chars = 2000;
    expect(JSON.stringify(value).length).toBeGreaterThan(max_result_chars);
    const { result, kept } = await bounded(value, { max_result_chars });
    expect(asText(result.content[0] as ContentBlock).length).toBeLessThanOrEqual(max_result_chars);
    expect(kept).toEqual([JSON.stringify(value)]);
  });

  it("only a trusted tool may be its own bound, as code.read_file is", async () => {
    verifies("RESULT-6");
    const long = "x".repeat(100_000);
    const about = { bounds_itself: true, handler: () => long };
    const world = await createWorld({
      tools: [reader("code.read_file", 0, about)],
      sources: [server("s", [reader("mcp.s.read", 0, about)])],
      policy: allowAll,
    });
    const [trusted, server_] = await world.execute(
      { name: "code.read_file", arguments: {} },
      { name: "mcp.s.read", arguments: {} },
    );
    expect(textOf(trusted)).toBe(long);
    expect(trusted?.artifacts).toEqual([]);
    expect(server_?.artifacts).toHaveLength(1);
  });

  it("hold for any value at all: what is read is within them, and nothing is lost", async () => {
    verifies("RESULT-6");
    const limit = 400;
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue({ maxDepth: 3 }),
        fc.string({ maxLength: 900 }),
        async (a, b) => {
          for (const value of [{ a, b }, b]) {
            const { result, kept } = await bounded(value, { max_result_chars: limit });
            const shown = asText(result.content[0] as ContentBlock);
            const inline = typeof value === "string" ? value : JSON.stringify(value);
            const whole = inline.length > limit ? kept[0] : inline;
            expect(whole).toBe(inline);
            if (result.content[0]?.type === "text") expect(shown.length).toBeLessThanOrEqual(limit);
            else expect(inline.length).toBeLessThanOrEqual(limit);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

function raise(message: string): never {
  throw new Error(message);
}

describe("what is not the content", () => {
  it("a tool's own bound does not cut the kernel's error about its arguments", async () => {
    verifies("RESULT-8");
    const names = Array.from({ length: 20 }, (_, i) => `field_${i}`);
    const schema = {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { type: "integer" }])),
      required: names,
    };
    const world = await createWorld({
      tools: [reader("a.tool", 0, { input_schema: schema, max_result_chars: 40 })],
    });
    const [result] = await world.execute({ name: "a.tool", arguments: {} });
    expect(result?.error?.code).toBe("invalid_arguments");
    for (const name of names.slice(0, 5)) expect(textOf(result)).toContain(name);
    expect(result?.metadata.truncation).toBeUndefined();
  });

  it.each<[string, () => unknown, (result: ToolResult) => unknown]>([
    [
      "metadata",
      () => toolResult({ content: [{ type: "text", text: "ok" }], metadata: { log: LONG } }),
      ({ metadata }) => metadata.tool,
    ],
    [
      "details of an error",
      () => {
        throw new ToolFailure({ code: "no", message: "no", details: { log: LONG } });
      },
      ({ error }) => error?.details,
    ],
  ])("%s over the bound is an artifact", async (_, handler, placeOf) => {
    verifies("RESULT-8");
    const { result, kept } = await bounded(handler);
    expect(placeOf(result)).toEqual({
      truncated: true,
      original_chars: JSON.stringify({ log: LONG }).length,
      artifact_id: result.artifacts[0]?.artifact_id,
    });
    expect(kept).toEqual([JSON.stringify({ log: LONG })]);
    expect(result.content.map(({ type }) => type)).toEqual(["text"]);
    expect(JSON.stringify(result).length).toBeLessThan(2000);
  });

  it("words about a block count, too, and labels are short", async () => {
    verifies("RESULT-8");
    const { result } = await bounded(
      toolResult({
        content: [
          { type: "resource_link", uri: "x:y", description: LONG },
          { type: "artifact_ref", artifact_id: "a", media_type: LONG, size: 1, name: LONG },
          { type: "image", media_type: LONG, data: "aGk=" },
        ],
        artifacts: Array.from({ length: 5000 }, () => ({
          artifact_id: LONG,
          media_type: LONG,
          size: 1,
          sha256: "",
          name: LONG,
        })),
        error: { code: LONG, message: "no" },
        status: "partial",
        summary: LONG,
      }),
      {},
      {},
      false,
    );
    expect(JSON.stringify({ ...result, artifacts: [] }).length).toBeLessThan(70 * KIB);
    expect(result.artifacts.length).toBeLessThanOrEqual(1001);
    expect(JSON.stringify(result.artifacts[0]).length).toBeLessThan(1100);
  });
});

const LONG = "m".repeat(100_000);
