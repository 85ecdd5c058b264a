// 200 lines at the end of a 1 GB file: code.read_file against `sed -n`. Neither may hold the file.

import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { run, withHands } from "../hands.mjs";
import { paired } from "../paired.mjs";

/** @import { Report } from "./index.mjs" */

/** @type {Report} */
export const readFile = {
  id: "read-file",
  title: "Reading 200 lines at the end of a 1 GB file (quick: 100 MB)",
  report: ({ quick }) =>
    withHands(async ({ project, call }) => {
      const lines = await fill(join(project, "big.txt"), quick ? 100_000_000 : 1_000_000_000);
      const first = lines - 199;
      return paired(
        [
          {
            name: "sed -n",
            run: () => run("sed", ["-n", `${first},${lines}p;${lines}q`, "big.txt"], project),
          },
          {
            name: "code.read_file",
            run: async () => {
              const { data } = await call("code.read_file", { path: "big.txt", start_line: first });
              const { line_count } = /** @type {{ line_count: number }} */ (data);
              if (line_count !== 200) throw new Error(`${line_count} lines`);
            },
          },
        ],
        { rounds: quick ? 3 : 5, unit: "ms" },
      );
    }),
};

/** Lines of 20 to 140 bytes. @param {string} path @param {number} size */
async function fill(path, size) {
  const file = createWriteStream(path);
  const block = Array.from(
    { length: 10_000 },
    (_, i) => `${i} ${"x".repeat(15 + ((i * 37) % 120))}\n`,
  );
  const text = Buffer.from(block.join(""));
  let lines = 0;
  for (let written = 0; written < size; written += text.length) {
    lines += block.length;
    if (!file.write(text)) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
  return lines;
}
