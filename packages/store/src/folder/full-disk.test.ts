import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type * as nodeFs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import type { Fact } from "@soong/core";
import { openRunFolders } from "./run-folders.ts";
import type { CommittedFact } from "./line-file.ts";

// A disk with no more room takes part of a write and refuses the rest.
const disk = vi.hoisted(() => ({ writesLeft: Infinity }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof nodeFs>();
  function writeFileSync(fd: number, bytes: Buffer): void {
    disk.writesLeft -= 1;
    if (disk.writesLeft >= 0) return fs.writeFileSync(fd, bytes);
    fs.writeFileSync(fd, bytes.subarray(0, bytes.length / 2));
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  }
  return { ...fs, writeFileSync };
});

const FILES = ["events.jsonl", "logs/tools.jsonl", "logs/errors.jsonl"];
const facts = [1, 2, 3, 4].map(failed);

let base: string;
beforeEach(() => {
  disk.writesLeft = Infinity;
  base = mkdtempSync(join(tmpdir(), "soong-folder-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

test("a full disk leaves whole lines, is named, and is caught up with when there is space", () => {
  verifies("EVENT-5");
  for (const [run, writesLeft] of [0, 1, 2].entries()) {
    const directory = join(base, `runs_${run}`);
    const folders = openRunFolders({ directory });
    folders.append(facts.slice(0, 2));
    disk.writesLeft = writesLeft;
    folders.append(facts.slice(2, 3));
    disk.writesLeft = Infinity;
    folders.append(facts.slice(3));
    expect(folders.problems()).toEqual([
      { run_id: "run_1", message: expect.stringContaining("written: ENOSPC: no space") as string },
    ]);
    const path = folders.pathOf("run_1");
    const counts = FILES.map((name) => seqs(path, name).length);
    expect(counts).toEqual([0, 1, 2].map((file) => (file < writesLeft ? 3 : 2)));
    folders.catchUp("run_1", (after) => facts.slice(after));
    expect(FILES.map((name) => seqs(path, name))).toEqual(FILES.map(() => [1, 2, 3, 4]));
    expect(folders.problems()).toEqual([]);
    folders.close();
  }
});

test("a rebuild without space leaves the old folder, and says so by its code", () => {
  verifies("EVENT-5");
  const folders = openRunFolders({ directory: base });
  folders.append(facts.slice(0, 2));
  const path = folders.pathOf("run_1");
  disk.writesLeft = 1;
  expect(() => folders.rebuild("run_1", (after) => facts.slice(after))).toThrow(
    expect.objectContaining({ code: "store_full" }),
  );
  disk.writesLeft = Infinity;
  expect(FILES.map((name) => seqs(path, name))).toEqual(FILES.map(() => [1, 2]));
  expect(readdirSync(join(path, "logs")).toSorted()).toEqual(["errors.jsonl", "tools.jsonl"]);
  folders.append(facts.slice(2));
  expect(FILES.map((name) => seqs(path, name))).toEqual(FILES.map(() => [1, 2, 3, 4]));
  folders.close();
});

test("a batch of many facts is one write to each file", () => {
  const folders = openRunFolders({ directory: base });
  disk.writesLeft = 3;
  folders.append(facts);
  expect(disk.writesLeft).toBe(0);
  expect(folders.problems()).toEqual([]);
  folders.close();
});

function failed(seq: number): CommittedFact {
  const data = { result: { is_error: true, status: "failed" } };
  const fact = writtenFact({ seq, type: "tool.failed", level: "warn", run_id: "run_1", data });
  return { fact, line: JSON.stringify(fact) };
}

function seqs(path: string, name: string): number[] {
  const lines = readFileSync(join(path, name), "utf8").split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => (JSON.parse(line) as Fact).seq);
}
