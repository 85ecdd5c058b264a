// Eight sessions of one process at once: what they commit at the same time shares a transaction.

import { paired } from "../paired.mjs";
import { ALL_SHAPES, SHAPES, turnsOn, withHome } from "../store.mjs";

/**
 * @import { Turns } from "../store.mjs"
 * @import { Report } from "./index.mjs"
 */

const SESSIONS = 8;

/** @type {Report} */
export const storeSessions = {
  id: "store-sessions",
  title: "Durable calls of one session, and of eight at once, per call",
  report: ({ quick }) =>
    withHome(async (home) => {
      const { openStore } = await import("@soong/store");
      const store = await openStore({ directory: home });
      const rows = [];
      for (const shape of ALL_SHAPES) {
        const { calls, title } = SHAPES[shape];
        const turns = 10;
        /** @type {Turns[]} */
        const sessions = [];
        for (let i = 0; i < SESSIONS; i += 1) {
          sessions.push(await turnsOn(shape, await store.createSession()));
        }
        const [first] = sessions;
        rows.push(
          ...(await paired(
            [
              {
                name: `one session, ${title}`,
                run: async () => first?.run(turns * SESSIONS),
              },
              {
                name: `eight sessions at once, ${title}`,
                run: () => Promise.all(sessions.map((session) => session.run(turns))),
              },
            ],
            { rounds: quick ? 4 : 15, unit: "µs", per: turns * SESSIONS * calls, cpu: true },
          )),
        );
      }
      await store.close();
      return rows;
    }),
};
