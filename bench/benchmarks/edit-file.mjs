// Edits of a 1 MB file: code.edit_file, with its plan, diff, pre-image, lock and atomic replacement, against
// read, replace and write; and against the same with the atomic replacement that survives a power cut.

import { open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withHands } from "../hands.mjs";
import { paired } from "../paired.mjs";

/** @import { Report } from "./index.mjs" */

/** @type {Report} */
export const editFile = {
  id: "edit-file",
  title: "Edits of a 1 MB file, per edit (1 000 in all; quick: 100)",
  report: ({ quick }) =>
    withHands(async ({ project, call }) => {
      const edits = quick ? 20 : 100;
      const rounds = quick ? 5 : 10;
      const content = Array.from(
        { length: 20_000 },
        (_, i) => `line ${i} ${"y".repeat(38)}\n`,
      ).join("");
      const names = ["floor.txt", "safe.txt", "soong.txt"].map((name) => join(project, name));
      for (const name of names) await writeFile(name, content);
      const [floor = "", safe = ""] = names;
      /** @param {(turn: number) => Promise<unknown>} edit */
      const times = (edit) => {
        let turn = 0;
        return async () => {
          for (let i = 0; i < edits; i += 1) {
            await edit(turn);
            turn += 1;
          }
        };
      };
      /** @param {number} turn */
      const change = (turn) => {
        const line = 7 * (turn % 2000);
        const round = Math.floor(turn / 2000);
        const old = round === 0 ? `line ${line} y` : `line ${line} ${round - 1}`;
        return { old, new: `line ${line} ${round}` };
      };
      return paired(
        [
          {
            name: "read, replace, write",
            run: times(async (turn) => {
              const { old, new: text } = change(turn);
              await writeFile(
                floor,
                (await readFile(floor, "utf8")).replace(old, () => text),
              );
            }),
          },
          {
            name: "the same, to a new file that is synced and renamed",
            run: times(async (turn) => {
              const { old, new: text } = change(turn);
              const after = (await readFile(safe, "utf8")).replace(old, () => text);
              const file = await open(`${safe}.tmp`, "w");
              await file.writeFile(after);
              await file.sync();
              await file.close();
              await rename(`${safe}.tmp`, safe);
            }),
          },
          {
            name: "code.edit_file",
            run: times((turn) =>
              call("code.edit_file", { path: "soong.txt", edits: [change(turn)] }),
            ),
          },
        ],
        { rounds, unit: "ms", per: edits },
      );
    }),
};
