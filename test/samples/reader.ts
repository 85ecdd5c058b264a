// Someone who reads a page and types what it shows: a home of their own with a small project in it, the command on
// the PATH, and `$RUN`, `$SESSION` and `$CALL` for the ids that the last run has printed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openStore } from "@soong/store";

export interface Reader {
  /** Everything on the screen, with the home as `/home/me`. The directory of one block is that of the next. */
  type(commands: string): Promise<{ readonly output: string; readonly code: number | null }>;
  save(file: string, content: string): Promise<void>;
  leave(): Promise<void>;
}

const PROJECT: Readonly<Record<string, string>> = {
  "README.md": "# Hello\n\nA program that says hello.\n",
  "package.json": '{ "name": "hello", "scripts": { "test": "node hello.js" } }\n',
  "hello.js": 'function main() {\n  console.log("hello");\n}\n\nmain();\n',
};

export async function openReader(program: string): Promise<Reader> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "soong-reader-")));
  const project = join(home, "project");
  const bin = join(home, ".bin");
  const whereabouts = join(bin, "cwd");
  await mkdir(project);
  await mkdir(bin);
  for (const [name, content] of Object.entries(PROJECT)) {
    await writeFile(join(project, name), content);
  }
  await writeFile(join(bin, "soong"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(join(bin, "soong"), 0o755);
  await writeFile(whereabouts, project);

  return {
    async type(commands) {
      const cwd = (await readFile(whereabouts, "utf8")).trim();
      const keepPlace = `trap 'pwd > "${whereabouts}"' EXIT`;
      const child = spawn("bash", ["--norc", "-euc", `${keepPlace}\nexec 2>&1\n${commands}`], {
        cwd,
        env: {
          PATH: `${bin}:${process.env["PATH"]}`,
          HOME: home,
          // A sample that installs something is marked as not run; one that is not stays on this machine.
          npm_config_offline: "true",
          ...(await idsIn(home)),
        },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
        });
      }
      const [code] = (await once(child, "close")) as [number | null];
      return { output: output.replaceAll(home, "/home/me"), code };
    },
    async save(file, content) {
      const cwd = (await readFile(whereabouts, "utf8")).trim();
      const path = file.startsWith("~/") ? join(home, file.slice(2)) : join(cwd, file);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(path, content, { mode: 0o600 });
    },
    leave: () => rm(home, { recursive: true, force: true }),
  };
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
