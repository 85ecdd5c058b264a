// Many processes of the command that share one home, all started at once: each runs ten calls in ten turns, every
// fact on disk. None may fail because another one writes.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withCommand } from "../command.mjs";

/** @import { Report } from "./index.mjs" */

const CALLS = 10;
const ROW = "processes that failed";

/** @type {Report} */
export const commandProcesses = {
  id: "command-processes",
  title: "100 processes on one home, ten calls each (quick: 25)",
  rows: [ROW],
  report: ({ quick }) =>
    withCommand(async ({ project, soong, runScript }) => {
      await writeFile(join(project, "a.txt"), "some text\n");
      const read = { calls: [{ tool: "code.read_file", input: { path: "a.txt" } }] };
      const turns = [...Array.from({ length: CALLS }, () => read), { text: "Done." }];
      const args = await runScript("reads.json", { turns });
      const processes = Array.from({ length: quick ? 25 : 100 });
      const begun = performance.now();
      const ends = await Promise.allSettled(processes.map(() => soong(...args)));
      const seconds = (performance.now() - begun) / 1_000;
      const failed = ends.filter((end) => end.status === "rejected");
      const [first] = failed.map(({ reason }) => String(reason).split("\n").at(-1));
      return [
        { name: ROW, value: failed.length, unit: `of ${processes.length}`, note: first ?? "" },
        { name: "until all have ended", value: seconds, unit: "s" },
      ];
    }),
};
