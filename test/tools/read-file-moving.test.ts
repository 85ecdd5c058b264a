// Reading while the world moves on (CODE-1, CODE-5): files that change, calls that are given up, and what
// is remembered of a file that was read.

import { appendFileSync, readdirSync, readlinkSync, truncateSync, utimesSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import {
  createKernel,
  type AnyTool,
  type Run,
  type ToolContext,
  type ToolResult,
} from "@soong/core";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFilesRead, type FilesRead } from "../../packages/tools/src/file/files-read.ts";
import { readFileTool } from "../../packages/tools/src/file/read-file.ts";
import { createStage, texts, type Stage } from "./read-file-stage.ts";

let stage: Stage;
let filesRead: FilesRead;

beforeEach(async () => {
  filesRead = createFilesRead();
  stage = await createStage({ filesRead });
});

afterEach(() => stage.close());

const LINE = `${"x".repeat(1023)}\n`;

/** Too long to show whole: the tool then asks where its secrets are, in the middle of reading. */
const LONG = `${"y".repeat(5000)}\n`;

/** A read during which something else happens, once a long line has been seen. */
async function readMeanwhile(
  input: { path: string; start_line?: number; max_lines?: number },
  meanwhile: (run: Run) => void,
): Promise<ToolResult> {
  const real = readFileTool();
  const tool: AnyTool = {
    ...real,
    handler(input: never, context) {
      const redact = (text: string): string => {
        meanwhile(run);
        return text;
      };
      const { plan, roots, runId, signal, inlineLimitBytes } = context;
      const given = { plan, roots, runId, signal, inlineLimitBytes, redact };
      return real.handler(input, given as ToolContext);
    },
  };
  const roots = { project: stage.project, write: [] };
  const run: Run = await createKernel({ tools: [tool] }).startRun({ roots });
  return run.call("code.read_file", input);
}

describe("a file that changes while it is read", () => {
  test("and grows is read as far as it went, and said to have changed", async () => {
    verifies("CODE-1");
    const path = await stage.write("a", `${LONG}end`);
    const grow = () => appendFileSync(path, "less\nmore\n");
    const result = await readMeanwhile({ path: "a" }, grow);
    expect(result.data).toMatchObject({ changed_while_read: true, total_lines: 2 });
    expect(texts(result)).toEqual([
      `${LONG.slice(0, 4096)}\nend`,
      "Too long, so cut: line 1. The file was written to while it was read: read it again.",
    ]);
  });

  test("for ever still comes to an end", async () => {
    verifies("CODE-1");
    const path = await stage.write("log", LINE.repeat(3000));
    const over = new AbortController();
    const writing = (async () => {
      while (!over.signal.aborted) await appendFile(path, LINE.repeat(100));
    })();
    try {
      const result = await stage.read("log", { start_line: 1_000_000_000 });
      expect(result.error?.code).toBe("start_line_past_end");
    } finally {
      over.abort();
      await writing;
    }
  });

  test("and shrinks ends where it ends now", async () => {
    verifies("CODE-1");
    const path = await stage.write("a", `${LONG}${"z".repeat(4_000_000)}\nthird\n`);
    const shrink = () => truncateSync(path, 1_500_000);
    const result = await readMeanwhile({ path: "a", max_lines: 3 }, shrink);
    expect(result.status).toBe("succeeded");
    expect(result.data).toMatchObject({
      changed_while_read: true,
      total_lines: 2,
      truncated: false,
      truncated_lines: [1, 2],
    });
    const again = await stage.read("a");
    expect(again.data).toMatchObject({ total_lines: 2 });
    expect(again.data).not.toHaveProperty("changed_while_read");
  });

  test("at its own size is noticed, too", async () => {
    verifies("CODE-1");
    const path = await stage.write("a", `${LONG}end`);
    utimesSync(path, 1000, 1000);
    const touch = () => utimesSync(path, 1000, 2000);
    expect((await readMeanwhile({ path: "a" }, touch)).data).toHaveProperty("changed_while_read");
  });
});

test("a read that is given up stops in the middle and leaves no file open", async () => {
  verifies("CODE-1");
  await stage.write("a", `${LONG}${"z".repeat(8_000_000)}\nthird\n`);
  let aborted: Promise<void> | undefined;
  const result = await readMeanwhile({ path: "a", max_lines: 3 }, (run) => {
    aborted ??= run.abort("not needed any more");
  });
  await aborted;
  expect(result).toMatchObject({ status: "aborted", is_error: true });
  await expect.poll(() => openFilesIn(stage.project)).toEqual([]);
});

test("no file stays open, however a read ends", async () => {
  verifies("CODE-1");
  await stage.write("text", "x\n");
  await stage.write("binary", Buffer.of(0, 1));
  await stage.write("empty", "");
  for (const path of ["text", "binary", "empty", "missing", "."]) await stage.read(path);
  await stage.read("text", { start_line: 9 });
  await stage.read("text", { max_lines: 1 });
  expect(openFilesIn(stage.project)).toEqual([]);
});

describe("what a run has read", () => {
  test("is remembered as it was, and named once it is different", async () => {
    verifies("CODE-5");
    const { run_id } = stage.run.identity;
    const text = await stage.write("text", "x\n");
    const binary = await stage.write("binary", Buffer.of(0, 1));
    const unread = await stage.write("unread", "x\n");
    await stage.read("text");
    await stage.read("binary");
    await stage.read("missing");
    expect(await filesRead.changed(run_id)).toEqual([]);
    for (const path of [text, binary, unread]) await appendFile(path, "more\n");
    expect(await filesRead.changed(run_id)).toEqual([text, binary]);
    await stage.read("text");
    expect(await filesRead.changed(run_id)).toEqual([]);
  });

  test("does not hold what it failed to read", async () => {
    verifies("CODE-5");
    const path = await stage.write("text", "x\n");
    await stage.read("text", { start_line: 5 });
    await appendFile(path, "more\n");
    expect(await filesRead.changed(stage.run.identity.run_id)).toEqual([]);
  });
});

/** On Linux; elsewhere no one says. */
function openFilesIn(folder: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    const target = targetOf(`/proc/self/fd/${fd}`);
    return target.startsWith(folder) ? [target] : [];
  });
}

/** Some are gone again before they can be looked at. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}
