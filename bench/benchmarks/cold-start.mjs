// How long the command takes to start, against a Node that does nothing: its version, and one call of a tool
// with its record on disk. Every start is a process of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { paired } from "../paired.mjs";
import { withHome } from "../store.mjs";

/** @import { Report } from "./index.mjs" */

const program = fileURLToPath(new URL("../../packages/cli/bin/soong.cjs", import.meta.url));

const FLOOR = "node -e 0";
const VERSION = "soong --version";
const CALL = "soong call code.read_file";

/** @type {Report} */
export const coldStart = {
  id: "cold-start",
  title: "A start of the command, against a Node that does nothing",
  rows: [FLOOR, VERSION, CALL],
  report: ({ quick }) =>
    withHome(async (folder) => {
      const project = join(folder, "project");
      await mkdir(project);
      await writeFile(join(project, "a.txt"), "some text\n");
      const env = { ...process.env, SOONG_AGENT_HOME: join(folder, "home") };
      const node = (/** @type {string[]} */ ...args) => start(args, { cwd: project, env });
      return paired(
        [
          { name: FLOOR, run: () => node("-e", "0") },
          { name: VERSION, run: () => node(program, "--version") },
          {
            name: CALL,
            run: () => node(program, "call", "code.read_file", '{"path": "a.txt"}'),
          },
        ],
        { rounds: quick ? 10 : 40, unit: "ms" },
      );
    }),
};

/** @param {string[]} args @param {{ cwd: string, env: NodeJS.ProcessEnv }} options */
async function start(args, options) {
  const child = spawn(process.execPath, args, { ...options, stdio: "ignore" });
  const [code] = /** @type {[number | null]} */ (await once(child, "close"));
  if (code !== 0) throw new Error(`${args.join(" ")}: exit ${code}`);
}
