// A recursive list of 50 000 files with types and sizes: code.list_dir against `find`, and `fd` if it is there
// (which gives names only).

import { isInstalled, run, withHands } from "../hands.mjs";
import { paired } from "../paired.mjs";
import { plantTree } from "../tree.mjs";

/** @import { Report } from "./index.mjs" */

/** @type {Report} */
export const listDir = {
  id: "list-dir",
  title: "A recursive list of 50 000 files (quick: 5 000)",
  rows: ["find -printf", "code.list_dir"],
  report: ({ quick }) =>
    withHands(async ({ project, call }) => {
      await plantTree(project, quick ? 4500 : 47_000);
      const { summary } = await call("code.list_dir", { recursive: true, limit: 50_000 });
      const entries = summary.split(" ")[0] ?? "";
      const fd = (await isInstalled("fd")) ? "fd" : (await isInstalled("fdfind")) ? "fdfind" : "";
      return paired(
        [
          { name: "find -printf", run: () => run("find", [".", "-printf", "%y %s %p\n"], project) },
          ...(fd === "" ? [] : [{ name: "fd", run: () => run(fd, ["-H"], project) }]),
          {
            name: "code.list_dir",
            run: async () => {
              const { summary } = await call("code.list_dir", {
                path: ".",
                recursive: true,
                limit: 50_000,
              });
              if (!summary.startsWith(entries)) throw new Error(summary);
            },
          },
        ],
        { rounds: quick ? 3 : 9, unit: "ms" },
      );
    }),
};
