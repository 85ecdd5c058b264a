// A run of the command whose model reads 1 000 small files in one turn: the whole process, divided by the calls.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withCommand } from "../command.mjs";
import { paired } from "../paired.mjs";

/** @import { Report } from "./index.mjs" */

const CALLS = 1_000;
const ROW = `soong run, ${CALLS} calls of code.read_file in one turn`;

/** @type {Report} */
export const commandCalls = {
  id: "command-calls",
  title: "Calls of code.read_file through the command, per call, its start included",
  rows: [ROW],
  report: ({ quick }) =>
    withCommand(async ({ project, node, soong, runScript }) => {
      const names = Array.from({ length: CALLS }, (_, index) => `file-${index}.txt`);
      for (const name of names) await writeFile(join(project, name), `some text of ${name}\n`);
      const reads = names.map((path) => ({ tool: "code.read_file", input: { path } }));
      const args = await runScript("reads.json", { turns: [{ calls: reads }, { text: "Done." }] });
      const bare =
        "for (const name of process.argv.slice(1)) require('fs').readFileSync(name, 'utf8')";
      return paired(
        [
          { name: "node, reading them", run: () => node("-e", bare, "--", ...names) },
          {
            name: ROW,
            async run() {
              const facts = (await soong(...args, "--json")).split("\n");
              const completed = facts.filter((fact) => fact.includes('"type":"tool.completed"'));
              if (completed.length !== CALLS) throw new Error(`${completed.length} completed`);
            },
          },
        ],
        { rounds: quick ? 2 : 7, unit: "ms", per: CALLS },
      );
    }),
};
