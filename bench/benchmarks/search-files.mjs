// A search of 50 000 files: code.search against bare ripgrep, the same program with the same query, its output
// read and thrown away. Once with few matches, once with many.

import { run, withHands } from "../hands.mjs";
import { paired } from "../paired.mjs";
import { plantTree } from "../tree.mjs";

/** @import { Report } from "./index.mjs" */

const QUERIES = { "few matches": "needle_[0-9]+", "many matches": "return [a-z]+_[0-9]+" };

/** @type {Report} */
export const searchFiles = {
  id: "search-files",
  title: "A search of 50 000 files (quick: 5 000)",
  rows: Object.keys(QUERIES).flatMap((kind) => [`rg, ${kind}`, `code.search, ${kind}`]),
  report: ({ quick }) =>
    withHands(async ({ project, call }) => {
      const { rgPath } = await import("@vscode/ripgrep");
      await plantTree(project, quick ? 5000 : 50_000);
      const rows = [];
      for (const [kind, query] of Object.entries(QUERIES)) {
        const measured = await paired(
          [
            {
              name: `rg, ${kind}`,
              run: () => run(rgPath, ["--no-config", "-n", "-e", query, "--", "."], project),
            },
            {
              name: `code.search, ${kind}`,
              run: async () => {
                const { data } = await call("code.search", { query });
                const { matches } = /** @type {{ matches: unknown[] }} */ (data);
                if (matches.length === 0) throw new Error("no matches");
              },
            },
          ],
          { rounds: quick ? 3 : 11, unit: "ms" },
        );
        rows.push(...measured);
      }
      return rows;
    }),
};
