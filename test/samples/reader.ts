// Someone who reads a page and types what it shows: a home of their own with a small project in it, the command on
// the PATH beside the programs that pages mention, and `$RUN`, `$SESSION` and `$CALL` for the ids that the last run has printed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { openStore } from "@soong/store";

export interface Reader {
  /** Everything on the screen, with the home as `/home/me`. All blocks are typed into one shell. */
  type(commands: string): Promise<{ readonly output: string; readonly code: number | null }>;
  save(file: string, content: string): Promise<void>;
  leave(): Promise<void>;
}

const PROJECT: Readonly<Record<string, string>> = {
  "README.md": "# Hello\n\nA program that says hello.\n",
  "package.json": '{ "name": "hello", "scripts": { "test": "node hello.js" } }\n',
  "hello.js": 'function main() {\n  console.log("hello");\n}\n\nmain();\n',
};

/** Blocks come on a descriptor of their own, because commands read stdin. */
const SHELL = `exec 2>&1; while IFS= read -r -d '' -u 3 block; do eval "$block"; printf '\\0'; done`;
const BLOCK_END = "\0";

export async function openReader(program: string): Promise<Reader> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "soong-reader-")));
  const project = join(home, "project");
  const bin = join(home, ".bin");
  await mkdir(project);
  await mkdir(bin);
  for (const [name, content] of Object.entries(PROJECT)) {
    await writeFile(join(project, name), content);
  }
  for (const [name, script] of [
    ["soong", program],
    ["github-mcp-server", resolve("test", "samples", "github-server.mjs")],
  ] as const) {
    await writeFile(join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
    await chmod(join(bin, name), 0o755);
  }

  const shell = spawn("bash", ["--norc", "-euc", SHELL], {
    cwd: project,
    env: {
      PATH: `${bin}:${process.env["PATH"]}`,
      HOME: home,
      // A sample that installs something is marked as not run; one that is not stays on this machine.
      npm_config_offline: "true",
    },
    stdio: ["ignore", "pipe", "inherit", "pipe"],
  });
  const closed = once(shell, "close") as Promise<[number | null]>;
  const blocks = shell.stdio[3] as Writable;
  // The shell ends where a command fails.
  blocks.on("error", () => {});
  const screen = shell.stdout as Readable;
  screen.setEncoding("utf8");

  return {
    async type(commands) {
      const { output, code } = await typeBlock(`${exportIds(await idsIn(home))}${commands}`);
      return { output: output.replaceAll(home, "/home/me"), code };
    },
    async save(file, content) {
      const { output: cwd } = await typeBlock('printf %s "$PWD"');
      const path = file.startsWith("~/") ? join(home, file.slice(2)) : join(cwd, file);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(path, content, { mode: 0o600 });
    },
    async leave() {
      blocks.end();
      await closed;
      await rm(home, { recursive: true, force: true });
    },
  };

  async function typeBlock(commands: string) {
    let output = "";
    const done = new Promise<number>((resolve) => {
      screen.on("data", function read(text: string) {
        output += text;
        if (!output.endsWith(BLOCK_END)) return;
        screen.off("data", read);
        output = output.slice(0, -BLOCK_END.length);
        resolve(0);
      });
    });
    blocks.write(`${commands}${BLOCK_END}`);
    const code = await Promise.race([done, closed.then(([exitCode]) => exitCode)]);
    return { output, code };
  }
}

function exportIds(ids: Readonly<Record<string, string>>): string {
  return Object.entries(ids)
    .map(([name, id]) => `export ${name}=${id}\n`)
    .join("");
}

/** What was done last, under the names the pages use for it. */
async function idsIn(home: string): Promise<Record<string, string>> {
  const directory = join(home, ".soong-agent");
  if (!existsSync(join(directory, "store"))) return {};
  const store = await openStore({ directory, readOnly: true });
  try {
    const [newest] = await store.sessions({ limit: 1 });
    if (newest === undefined) return {};
    const reader = await store.readSession(newest.session_id);
    const run = (await reader.runs()).at(-1);
    const call = (await reader.calls()).at(-1);
    return {
      SESSION: newest.session_id,
      ...(run === undefined ? {} : { RUN: run.run_id }),
      ...(call === undefined ? {} : { CALL: call.tool_call_id }),
    };
  } finally {
    await store.close();
  }
}
