// What the benchmarks of the built-in tools share: a folder of their own, a run with the real tools on
// the real kernel, and other programs to compare with.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * @typedef {object} Hands
 * @property {string} project
 * @property {(name: string, input: object) => Promise<import("@soong/core").ToolResult>} call  throws unless it succeeds
 */

/**
 * @template T
 * @param {(hands: Hands) => Promise<T>} work @param {{ isSandboxed?: boolean }} [options]
 * @returns {Promise<T>}
 */
export async function withHands(work, { isSandboxed = false } = {}) {
  // Only now: the run that measures builds our packages first.
  const { createKernel } = await import("@soong/core");
  const { openFileArtifacts } = await import("@soong/store");
  const { codeTools } = await import("@soong/tools");
  const { openSandbox } = await import("@soong/platform");
  const base = await mkdtemp(join(tmpdir(), "soong-bench-"));
  const project = join(base, "project");
  await run("mkdir", [project], base);
  const sandbox = isSandboxed ? openSandbox() : undefined;
  try {
    const kernel = createKernel({
      tools: codeTools({ lockDirectory: join(base, "locks"), ...(sandbox && { sandbox }) }),
    });
    const artifacts = await openFileArtifacts({ directory: join(base, "artifacts") });
    const session = await kernel.openSession({
      artifacts,
      roots: { project, write: [] },
      policy: {
        rules: [
          { tool: "code.*", decision: "allow" },
          { tool: "code.run_command", decision: "allow" },
        ],
      },
    });
    const soong = await session.startRun();
    let calls = 0;
    return await work({
      project,
      async call(name, input) {
        calls += 1;
        const [result] = await soong.execute([{ id: `c${calls}`, name, arguments: input }]);
        if (result?.status !== "succeeded") {
          throw new Error(`${name}: ${result?.status} ${result?.summary}`);
        }
        return result;
      },
    });
  } finally {
    sandbox?.close();
    await rm(base, { recursive: true, force: true });
  }
}

/**
 * Runs a program, reads what it prints, and answers with how many bytes that was.
 *
 * @param {string} command @param {string[]} args @param {string} cwd
 * @returns {Promise<number>}
 */
export function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "ignore"] });
    let bytes = 0;
    child.stdout.on("data", (/** @type {Buffer} */ chunk) => (bytes += chunk.length));
    child.on("error", reject);
    child.on("close", () => resolve(bytes));
  });
}

/** Whether a program is there to compare with. @param {string} command */
export function isInstalled(command) {
  return run(command, ["--version"], ".").then(
    () => true,
    () => false,
  );
}
