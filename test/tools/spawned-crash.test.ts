// CMD-7: a hook and ripgrep end with a runtime that is killed, as commands do (process-crash.test.ts) and MCP servers
// (test/mcp/connection-process.test.ts).

import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn } from "node:child_process";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";
import { sourceAlias } from "../../scripts/source-alias.mjs";
import { isAlive, until } from "./process-watching.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "soong-spawned-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Ignores what asks it to end, and has a child in a session of its own that does, too. */
function plantDeafProgram(name: string): { program: string; pids: string } {
  const program = join(folder, name);
  const pids = `${program}.pids`;
  const child = `trap '' TERM HUP; echo $$ >> '${pids}'; while :; do sleep 1; done`;
  writeFileSync(
    program,
    `#!/bin/sh\ntrap '' TERM HUP\necho $$ >> '${pids}'\nsetsid sh -c "${child.replaceAll("$", "\\$")}" &\nwhile :; do sleep 1; done\n`,
  );
  chmodSync(program, 0o755);
  return { program, pids };
}

function readPids(file: string): number[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number) : [];
}

test("a hook and ripgrep, with what they started, are gone with the runtime", async () => {
  verifies("CMD-3", "CMD-7");
  const hook = plantDeafProgram("hook");
  const rg = plantDeafProgram("rg");
  const program = join(root, ".cache", `spawned-runtime-${randomUUID()}.mjs`);
  await build({
    stdin: {
      contents: `
        import { createKernel } from "@soong/core";
        import { commandHook, searchTool } from "@soong/tools";
        const rg = () => Promise.resolve(${JSON.stringify(rg.program)});
        const kernel = createKernel({ tools: [searchTool({ locateRipgrep: rg })] });
        const roots = { project: process.cwd(), write: [] };
        const hook = { id: "h", event: "PreToolUse", command: [${JSON.stringify(hook.program)}], cwd: "/" };
        const searching = await kernel.startRun({ roots });
        const hooked = await kernel.startRun({ roots, hooks: [commandHook(hook)] });
        for (const run of [searching, hooked]) void run.call("code.search", { query: "needle" });
      `,
      resolveDir: root,
    },
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    alias: sourceAlias(),
    external: ["@vscode/ripgrep"],
    banner: {
      js: 'import{createRequire as bundleRequire}from"node:module";const require=bundleRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  const runtime = spawn(process.execPath, [program], { cwd: folder, stdio: "inherit" });
  try {
    await until(() => [hook, rg].every(({ pids }) => readPids(pids).length === 2));
    const started = [hook, rg].flatMap(({ pids }) => readPids(pids));
    expect(started.filter(isAlive)).toEqual(started);
    runtime.kill("SIGKILL");
    expect(await until(() => !started.some(isAlive))).toBeLessThan(3000);
  } finally {
    runtime.kill("SIGKILL");
    rmSync(program, { force: true });
  }
});
