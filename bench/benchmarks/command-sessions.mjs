// The command's list of sessions in a home that holds many short ones.

import { withCommand } from "../command.mjs";
import { playRun, TOOL } from "../loop.mjs";
import { paired } from "../paired.mjs";

/** @import { Report } from "./index.mjs" */

const ROW = "soong sessions";

/** @type {Report} */
export const commandSessions = {
  id: "command-sessions",
  title: "The list of 2 000 sessions (quick: 500)",
  rows: [ROW],
  report: ({ quick }) =>
    withCommand(async ({ home, node, soong }) => {
      const { openStore } = await import("@soong/store");
      const store = await openStore({ directory: home });
      const call = { tool: TOOL, input: { path: "src/a.ts", ms: 0 } };
      const script = { turns: [{ calls: [call] }, { text: "Done." }] };
      const sessions = quick ? 500 : 2_000;
      for (let i = 0; i < sessions; i += 1) await playRun(script, store);
      await store.close();
      return paired(
        [
          { name: "node -e 0", run: () => node("-e", "0") },
          {
            name: ROW,
            async run() {
              const listed = (await soong("sessions", "--all", "--json")).trim().split("\n").length;
              if (listed !== sessions) throw new Error(`${listed} sessions listed`);
            },
          },
        ],
        { rounds: quick ? 3 : 7, unit: "ms" },
      );
    }),
};
