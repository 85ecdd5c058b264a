// Files far larger than memory should ever see (CODE-1): a process of its own reads them, and its peak
// of memory is measured. The ordinary run has a file of 64 MB and larger ones that are mostly a hole;
// the full run writes 2 GB for real.

import { execFile } from "node:child_process";
import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { verifies } from "#laws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NODE_BUNDLE } from "../node-bundle.ts";

const isFull = process.env["SOONG_TEST_FULL"] === "1";
const MIB = 1024 * 1024;

let folder: string;
let reader: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "soong-huge-"));
  reader = join(folder, "reader.mjs");
  await build({
    ...NODE_BUNDLE,
    stdin: { contents: READER, resolveDir: here("."), loader: "ts" },
    outfile: reader,
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const READER = `
  import { createKernel } from "@soong/core";
  import { readFileTool } from "../../packages/tools/src/file/read-file.ts";
  const [project, ...inputs] = process.argv.slice(2);
  const kernel = createKernel({ tools: [readFileTool()] });
  const run = await kernel.startRun({ roots: { project, write: [] } });
  await run.call("code.read_file", { path: "reader.mjs" });
  const before = process.resourceUsage().maxRSS;
  const results = [];
  for (const input of inputs) results.push(await run.call("code.read_file", JSON.parse(input)));
  const grown = process.resourceUsage().maxRSS - before;
  console.log(JSON.stringify({ results, grown: grown * 1024 }));
`;

interface Reading {
  results: { content: { text: string }[]; data: object; error?: { message: string } }[];
  /** Bytes of memory more than a small file took. */
  grown: number;
}

async function readAll(...inputs: object[]): Promise<Reading> {
  const args = [reader, folder, ...inputs.map((input) => JSON.stringify(input))];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * MIB });
  return JSON.parse(stdout) as Reading;
}

test("line 900 000 of a large file is found in little memory", async () => {
  verifies("CODE-1");
  const width = isFull ? 2400 : 64;
  const line = (number: number): string => `${`line ${number} `.padEnd(width, ".")}\n`;
  await write("large.txt", async (file) => {
    for (let from = 1; from <= 900_100; from += 1000) {
      const count = Math.min(1000, 900_101 - from);
      await file.write(Array.from({ length: count }, (_, index) => line(from + index)).join(""));
    }
  });
  const { results, grown } = await readAll(
    { path: "large.txt", start_line: 900_000, max_lines: 10 },
    { path: "large.txt", start_line: 900_091, max_lines: 1000 },
    { path: "large.txt", start_line: 900_101 },
  );
  const lines = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => line(from + index)).join("");
  expect(results[0]?.content[0]?.text).toBe(lines(900_000, 10));
  expect(results[0]?.data).toMatchObject({ next_start_line: 900_010 });
  expect(results[1]?.content[0]?.text).toBe(lines(900_091, 10));
  expect(results[1]?.data).toMatchObject({ total_lines: 900_100 });
  expect(results[2]?.error?.message).toContain("has 900100 lines");
  expect(grown).toBeLessThan(64 * MIB);
});

test("a line far longer than memory is cut, and the line behind it found", async () => {
  verifies("CODE-1");
  await writeWithHole("hole.txt", isFull ? 5120 * MIB : 256 * MIB);
  const { results, grown } = await readAll({ path: "hole.txt", start_line: 20_001 });
  const third = `third: ${"\0".repeat(4096 - 7)}`;
  expect(results[0]?.content[0]?.text).toBe(`second line\n${third}\nthe end`);
  expect(results[0]?.data).toMatchObject({
    truncated_lines: [20_002],
    line_ending: "mixed",
    total_lines: 20_003,
    final_newline: false,
  });
  expect(grown).toBeLessThan(64 * MIB);
});

test("the beginning of a file of gigabytes takes neither memory nor a look at the rest", async () => {
  verifies("CODE-1");
  const size = 8192 * MIB;
  await writeWithHole("gigabytes.txt", size);
  const { results, grown } = await readAll(
    { path: "gigabytes.txt", max_lines: 1 },
    { path: "gigabytes.txt", start_line: 20_001, max_lines: 1 },
  );
  expect(results.map(({ content }) => content[0]?.text)).toEqual(["words\n", "second line\n"]);
  expect(results[1]?.data).toMatchObject({ next_start_line: 20_002, size: size + 9 });
  expect(grown).toBeLessThan(64 * MIB);
});

/** Text enough to be known for it, then a line that is nothing but a hole up to `end`, and a last one. */
async function writeWithHole(name: string, end: number): Promise<void> {
  await write(name, async (file) => {
    await file.write(`${"words\n".repeat(20_000)}second line\nthird: `);
    await file.write("\r\nthe end", end);
  });
}

async function write(name: string, work: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(join(folder, name), "w");
  try {
    await work(file);
  } finally {
    await file.close();
  }
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
