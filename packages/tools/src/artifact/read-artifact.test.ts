import { describe, expect, test } from "vitest";
import fc from "fast-check";
import {
  createKernel,
  createMemoryArtifacts,
  defineTool,
  type Run,
  type Session,
  type ToolResult,
} from "@soong/core";
import { verifies } from "#laws";
import { readArtifactTool } from "./read-artifact.ts";

const SECRET = "correct-horse-battery-staple";

interface Desk {
  readonly session: Session;
  keep(bytes: string | Uint8Array): Promise<string>;
  read(input: object): Promise<ToolResult>;
}

async function desk(inline_limit_bytes = 64 * 1024): Promise<Desk> {
  const kernel = createKernel({
    sources: [{ id: "artifacts", kind: "internal", tools: [readArtifactTool()] }],
    config: { tools: { inline_limit_bytes } },
  });
  const artifacts = createMemoryArtifacts();
  const session = await kernel.openSession({
    artifacts,
    secrets: [{ name: "PASSPHRASE", value: SECRET }],
  });
  const run = await session.startRun();
  let calls = 0;
  return {
    session,
    async keep(bytes) {
      const about = { media_type: "text/plain", session_id: session.session_id, run_id: "r" };
      return (await artifacts.write(bytes, about)).artifact_id;
    },
    async read(input) {
      calls += 1;
      return only(
        await run.execute([{ id: `c${calls}`, name: "internal.read_artifact", arguments: input }]),
      );
    },
  };
}

function only(results: readonly ToolResult[]): ToolResult {
  const [result] = results;
  if (result === undefined) throw new Error("no result");
  return result;
}

function firstText(result: ToolResult): string {
  const [block] = result.content;
  return block?.type === "text" ? block.text : "";
}

function dataOf(result: ToolResult): Record<string, unknown> {
  return result.data as Record<string, unknown>;
}

/** Every page, one after the other, as a model would read them. */
async function allPages(at: Desk, artifact_id: string, length: number): Promise<string[]> {
  const pages: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const result = await at.read({ artifact_id, offset, length });
    expect(result.status).toBe("succeeded");
    const data = dataOf(result);
    expect(data["offset"]).toBe(offset);
    pages.push(firstText(result));
    const next = data["next_offset"] as number | undefined;
    if (next !== undefined) expect(next).toBeGreaterThan(offset);
    offset = next;
  }
  return pages;
}

describe("internal.read_artifact", () => {
  test("a model pages what was cut from a result, with the id alone", async () => {
    verifies("ART-2", "ART-3", "RESULT-6");
    const whole = Array.from({ length: 20_000 }, (_, i) => `line ${i}`).join("\n");
    const talk = defineTool({
      name: "test.talk",
      description: "Says much",
      input_schema: { type: "object" },
      permission: "readonly",
      handler: () => whole,
    });
    const kernel = createKernel({
      tools: [talk],
      sources: [{ id: "artifacts", kind: "internal", tools: [readArtifactTool()] }],
    });
    const run: Run = await kernel.startRun();
    const said = only(await run.execute([{ id: "a", name: "test.talk", arguments: {} }]));
    expect(Buffer.byteLength(firstText(said))).toBeLessThanOrEqual(64 * 1024);
    expect(firstText(said)).toContain("line 0\n");
    expect(firstText(said)).toContain("line 19999");
    const artifact_id = said.artifacts[0]?.artifact_id ?? "";
    let offset: number | undefined = 0;
    let read = "";
    for (let i = 0; offset !== undefined; i += 1) {
      const page = only(
        await run.execute([
          { id: `p${i}`, name: "internal.read_artifact", arguments: { artifact_id, offset } },
        ]),
      );
      expect(page.artifacts).toEqual([]);
      read += firstText(page);
      offset = dataOf(page)["next_offset"] as number | undefined;
    }
    expect(read).toBe(whole);
  });

  test("the default page and the largest fit into any inline bound", async () => {
    verifies("ART-3");
    const at = await desk(5000);
    const id = await at.keep("x".repeat(100_000));
    for (const input of [{}, { length: 1_000_000 }]) {
      const page = await at.read({ artifact_id: id, ...input });
      expect(page.metadata.truncation).toBeUndefined();
      expect(page.artifacts).toEqual([]);
      expect(firstText(page).length).toBeGreaterThan(3000);
    }
  });

  test("pages put together are the redacted text, wherever they are cut", async () => {
    verifies("ART-3", "REDACT-1");
    const at = await desk();
    const piece = fc.constantFrom(
      "plain ",
      "grüße ",
      "日本",
      "😀",
      "\n",
      SECRET,
      "AKIAIOSFODNN7EXAMPLE ",
      "token: string ",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 60 }),
        async (pieces, length) => {
          const text = pieces.join(" ");
          const pages = await allPages(at, await at.keep(text), length);
          const whole = firstText(
            await at.read({ artifact_id: await at.keep(text), length: 60_000 }),
          );
          expect(pages.join("")).toBe(whole);
          expect(pages.join("")).not.toContain(SECRET);
          for (let i = 8; i < SECRET.length - 8; i += 1) {
            expect(pages.some((page) => page.includes(SECRET.slice(i, i + 8)))).toBe(false);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test("bytes that are not UTF-8 are paged without loss", async () => {
    verifies("ART-3");
    const at = await desk();
    const bytes = Uint8Array.from({ length: 999 }, (_, i) => 1 + ((i * 7) % 255));
    const pages = await allPages(at, await at.keep(bytes), 100);
    expect(Buffer.from(pages.join(""), "latin1")).toEqual(Buffer.from(bytes));
  });

  test("an artifact that is not text is described, not shown", async () => {
    verifies("ART-3");
    const at = await desk();
    const result = await at.read({ artifact_id: await at.keep(new Uint8Array(100)) });
    expect(dataOf(result)).toMatchObject({ binary: true, size: 100 });
    expect(firstText(result)).toContain("not text");
  });

  test("an empty artifact is empty", async () => {
    verifies("ART-3");
    const at = await desk();
    const result = await at.read({ artifact_id: await at.keep("") });
    expect(result.status).toBe("succeeded");
    expect(firstText(result)).toContain("empty");
  });

  test("an artifact of another session does not exist here", async () => {
    verifies("ART-3");
    const artifacts = createMemoryArtifacts();
    const { artifact_id } = await artifacts.write("theirs", {
      media_type: "text/plain",
      session_id: "other",
      run_id: "r",
    });
    const kernel = createKernel({
      sources: [{ id: "artifacts", kind: "internal", tools: [readArtifactTool()] }],
    });
    const run = await kernel.startRun({ artifacts });
    for (const id of [artifact_id, "../../etc/passwd", "nothing"]) {
      const result = only(
        await run.execute([{ id, name: "internal.read_artifact", arguments: { artifact_id: id } }]),
      );
      expect(result.error?.code).toBe("artifact_not_found");
      expect(JSON.stringify(result)).not.toContain("theirs");
    }
  });

  test("an offset past the end is said to be that", async () => {
    verifies("ART-3");
    const at = await desk();
    const result = await at.read({ artifact_id: await at.keep("abc"), offset: 3 });
    expect(result.error).toMatchObject({ code: "offset_past_end", recovery: "change_arguments" });
    expect(result.error?.message).toContain("3 bytes");
  });

  test("lines that match are found with their number, place and neighbours", async () => {
    verifies("ART-3");
    const at = await desk();
    const id = await at.keep("one\r\ntwo\r\nthree\r\nfour\r\nfive");
    const result = await at.read({ artifact_id: id, query: "^t[hw]", context_lines: 1 });
    expect(dataOf(result)["matches"]).toEqual([
      { line: 2, offset: 5, text: "two", before: ["one"], after: ["three"] },
      { line: 3, offset: 10, text: "three", before: ["two"], after: ["four"] },
    ]);
    expect(firstText(result)).toContain("2: two");
    const last = await at.read({ artifact_id: id, query: "five" });
    expect(dataOf(last)["matches"]).toMatchObject([{ line: 5, offset: 23, text: "five" }]);
    const none = await at.read({ artifact_id: id, query: "seven" });
    expect(firstText(none)).toBe("No line matches.");
  });

  test("a query may be plain text", async () => {
    verifies("ART-3");
    const at = await desk();
    const id = await at.keep("a.b\naxb\n");
    const literal = await at.read({ artifact_id: id, query: "a.b", literal: true });
    expect(dataOf(literal)["matches"]).toMatchObject([{ line: 1 }]);
    const regex = await at.read({ artifact_id: id, query: "a.b" });
    expect(dataOf(regex)["matches"]).toMatchObject([{ line: 1 }, { line: 2 }]);
  });

  test("searching on from next_offset finds every match once, in a large artifact too", async () => {
    verifies("ART-3");
    const at = await desk();
    const lines = Array.from({ length: 60_000 }, (_, i) =>
      i % 500 === 3 ? `hit ${i} é` : `line ${i} é`,
    );
    const id = await at.keep(lines.join("\n"));
    const found: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const result = await at.read({ artifact_id: id, query: "^hit", limit: 7, offset });
      const data = dataOf(result) as { matches: { text: string }[]; next_offset?: number };
      found.push(...data.matches.map(({ text }) => text));
      offset = data.next_offset;
    }
    expect(found).toEqual(lines.filter((line) => line.startsWith("hit")));
  });

  test("a search cannot find out what a secret is", async () => {
    verifies("ART-3", "REDACT-1");
    const at = await desk();
    const filler = "filler line\n".repeat(21_845);
    const id = await at.keep(`${filler}key ${SECRET} end\n${filler}`);
    for (const query of [SECRET, SECRET.slice(0, 12), "key c", "staple end", "horse"]) {
      const result = await at.read({ artifact_id: id, query });
      expect(dataOf(result)["matches"]).toEqual([]);
    }
    const around = await at.read({ artifact_id: id, query: "^key" });
    expect(dataOf(around)["matches"]).toHaveLength(1);
    expect(JSON.stringify(around)).not.toContain(SECRET);
  });

  test("line numbers stay right behind a secret of several lines", async () => {
    verifies("ART-3", "REDACT-1");
    const at = await desk();
    const body = Array.from({ length: 12 }, (_, i) => `${i}`.padEnd(64, "Ab3d"));
    const key = ["-----BEGIN PRIVATE KEY-----", ...body, "-----END PRIVATE KEY-----"].join("\n");
    const id = await at.keep(`first\n${key}\nlast\n`);
    const result = await at.read({ artifact_id: id, query: "last" });
    expect(dataOf(result)["matches"]).toMatchObject([{ line: 16, offset: 6 + key.length + 1 }]);
  });

  test("a line of megabytes is found in and shown around the match", async () => {
    verifies("ART-3");
    const at = await desk();
    const id = await at.keep(`${"x".repeat(3_000_000)}needle${"y".repeat(100_000)}`);
    const result = await at.read({ artifact_id: id, query: "needle" });
    const { matches } = dataOf(result) as { matches: { text: string }[] };
    expect(matches).toHaveLength(1);
    expect(matches[0]?.text.length).toBeLessThan(1100);
  });

  test("a bad pattern and options that do not go together are explained", async () => {
    verifies("ART-3", "SCHEMA-8");
    const at = await desk();
    const id = await at.keep("text");
    expect((await at.read({ artifact_id: id, query: "(" })).error?.code).toBe("invalid_regex");
    expect((await at.read({ artifact_id: id, literal: true })).error?.message).toContain("query");
    const both = await at.read({ artifact_id: id, query: "t", length: 5 });
    expect(both.error?.message).toContain("length");
  });
});
