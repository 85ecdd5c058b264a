// How long the command takes to start, against a Node that does nothing: its version, one call of a tool with its
// record on disk, and the prompt of a conversation. Every start is a process of its own.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withCommand } from "../command.mjs";
import { isInstalled } from "../hands.mjs";
import { paired } from "../paired.mjs";

/** @import { Report } from "./index.mjs" */

const FLOOR = "node -e 0";
const VERSION = "soong --version";
const CALL = "soong call code.read_file";
const PROMPT = "soong, until its prompt is shown";

/** @type {Report} */
export const coldStart = {
  id: "cold-start",
  title: "A start of the command, against a Node that does nothing",
  rows: [FLOOR, VERSION, CALL, PROMPT],
  report: ({ quick }) =>
    withCommand(async ({ project, node, soong, atTerminal }) => {
      await writeFile(join(project, "a.txt"), "some text\n");
      await writeFile(join(project, "s.yaml"), "turns:\n  - text: Done.\n");
      const prompt = () => atTerminal("› ", "--model", "script:s.yaml");
      return paired(
        [
          { name: FLOOR, run: () => node("-e", "0") },
          { name: VERSION, run: () => soong("--version") },
          { name: CALL, run: () => soong("call", "code.read_file", '{"path": "a.txt"}') },
          ...((await isInstalled("script")) ? [{ name: PROMPT, time: prompt }] : []),
        ],
        { rounds: quick ? 10 : 40, unit: "ms" },
      );
    }),
};
