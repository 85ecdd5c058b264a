// Runs the real `git apply` on many cases at once, outside any repository and without anyone's
// configuration, and says for each what came of it.

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface GitCase {
  before: Buffer | undefined;
  patch: string;
}

/** The bytes of the file afterwards, or undefined where git refuses. */
export type GitResult = Buffer | undefined;

export const FILE_NAME = "file.txt";

export async function applyWithGit(cases: readonly GitCase[]): Promise<GitResult[]> {
  const root = await mkdtemp(join(tmpdir(), "soong-patch-git-"));
  try {
    await inTurn(cases, 16, async ({ before, patch }, number) => {
      const directory = join(root, String(number));
      await mkdir(directory);
      if (before !== undefined) await writeFile(join(directory, FILE_NAME), before);
      await writeFile(join(directory, "patch"), patch);
    });
    const halves: string[][] = [[], []];
    for (const [number, { patch }] of cases.entries()) {
      halves[number % 2]?.push(`${number} ${hasContext(patch) ? "" : "--unidiff-zero"}`);
    }
    const codes = new Map<number, number>();
    await Promise.all(halves.map(async (half) => runAll(root, half, codes)));
    return await inTurn(cases, 16, async (_, number) => {
      const code = codes.get(number);
      if (code !== 0 && code !== 1 && code !== 128) throw new Error(`git ended with ${code}`);
      return code === 0 ? readFile(join(root, String(number), FILE_NAME)) : undefined;
    });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** One shell starts git for every line of its input: much cheaper than starting each from here. */
const SCRIPT = `while read -r number flags; do
  git -C "$number" apply --whitespace=nowarn $flags patch >/dev/null 2>&1
  echo "$number $?"
done`;

async function runAll(root: string, inputs: string[], codes: Map<number, number>): Promise<void> {
  const shell = spawn("sh", ["-c", SCRIPT], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.autocrlf",
      GIT_CONFIG_VALUE_0: "false",
      GIT_CEILING_DIRECTORIES: root,
      LC_ALL: "C",
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve, reject) => {
    shell.once("close", resolve);
    shell.once("error", reject);
  });
  let output = "";
  shell.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  shell.stdin.end(inputs.map((line) => `${line}\n`).join(""));
  await ended;
  for (const line of output.split("\n").filter(Boolean)) {
    const [number, code] = line.split(" ").map(Number);
    codes.set(number ?? -1, code ?? -1);
    if (code === 127) {
      throw new Error("This test compares with `git apply`: install git and have it on PATH.");
    }
  }
}

/** Whether any hunk has a context line. Counts its own way, not with the code under test. */
function hasContext(patch: string): boolean {
  const lines = patch.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const header = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[at] ?? "");
    if (header === null) continue;
    let old = Number(header[1] ?? 1);
    let added = Number(header[2] ?? 1);
    while ((old > 0 || added > 0) && at + 1 < lines.length) {
      at += 1;
      const kind = lines[at]?.[0] ?? " ";
      if (kind === " ") return true;
      if (kind === "-") old -= 1;
      else if (kind === "+") added -= 1;
      else if (kind !== "\\") break;
    }
  }
  return false;
}

async function inTurn<In, Out>(
  items: readonly In[],
  width: number,
  work: (item: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next;
      next += 1;
      results[index] = await work(items[index] as In, index);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
