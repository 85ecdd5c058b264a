// What the benchmarks of the command share: a project, a home of its own, and starts of the program.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { withHome } from "./store.mjs";

const program = fileURLToPath(new URL("../packages/cli/bin/soong.cjs", import.meta.url));

/**
 * @import { Script } from "@soong/agent"
 *
 * @typedef {object} Command
 * @property {string} project
 * @property {string} home
 * @property {(...args: string[]) => Promise<string>} node  runs Node to its end: what it printed
 * @property {(...args: string[]) => Promise<string>} soong  the same for the command
 * @property {(...args: string[]) => Promise<number>} firstLine
 *   starts the command and kills it at its first line: the milliseconds until then
 * @property {(shown: string, ...args: string[]) => Promise<number>} atTerminal
 *   starts the command at a terminal and ends it by Ctrl-D: the milliseconds until this was shown
 * @property {(name: string, script: Script) => Promise<string[]>} runScript  writes it: the arguments that play it
 */

/** @template T @param {(command: Command) => Promise<T>} work @returns {Promise<T>} */
export function withCommand(work) {
  return withHome(async (folder) => {
    const project = join(folder, "project");
    const home = join(folder, "home");
    await mkdir(project);
    const options = { cwd: project, env: { ...process.env, SOONG_AGENT_HOME: home } };
    const node = (/** @type {string[]} */ ...args) => runNode(args, options);
    return work({
      project,
      home,
      node,
      soong: (...args) => node(program, ...args),
      firstLine: (...args) =>
        timeUntilShown("\n", [process.execPath, program, ...args], options, (child) => {
          child.kill("SIGKILL");
        }),
      // `script` of util-linux makes the terminal.
      atTerminal(shown, ...args) {
        const line = [process.execPath, program, ...args].map((arg) => `'${arg}'`).join(" ");
        const command = ["script", "-qfec", line, "/dev/null"];
        return timeUntilShown(shown, command, options, ({ stdin }) => void stdin.end("\u0004"));
      },
      async runScript(name, script) {
        await writeFile(join(project, name), JSON.stringify(script));
        return ["run", "Begin.", "--model", `script:${name}`, "--allow", "code.*"];
      },
    });
  });
}

/** @typedef {{ cwd: string, env: NodeJS.ProcessEnv }} Where */

/** @param {string[]} args @param {Where} options */
async function runNode(args, options) {
  const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const [printed, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    /** @type {Promise<[number | null]>} */ (once(child, "close")),
  ]);
  if (code !== 0) throw new Error(`${args.join(" ")}: exit ${code}: ${complaint.trim()}`);
  return printed;
}

/**
 * @param {string} shown @param {string[]} command @param {Where} options
 * @param {(child: import("node:child_process").ChildProcessWithoutNullStreams) => void} end
 */
async function timeUntilShown(shown, [file = "", ...args], options, end) {
  const begun = performance.now();
  const child = spawn(file, args, options);
  let screen = "";
  let ms = Number.NaN;
  child.stderr.resume();
  child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
    if (!Number.isNaN(ms)) return;
    screen += chunk;
    if (!screen.includes(shown)) return;
    ms = performance.now() - begun;
    end(child);
  });
  await once(child, "close");
  if (Number.isNaN(ms)) throw new Error(`${shown} was not shown: ${screen.slice(-200)}`);
  return ms;
}
