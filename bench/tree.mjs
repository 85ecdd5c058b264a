// A source tree to walk and search: directories of 20 files, each some hundred bytes of made-up code; one file
// in 500 holds a needle.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILES_A_DIRECTORY = 20;

/** @param {string} root @param {number} files */
export async function plantTree(root, files) {
  for (let first = 0; first < files; first += FILES_A_DIRECTORY) {
    const number = first / FILES_A_DIRECTORY;
    const directory = join(root, `area${number % 25}`, `part${number % 100}`, `unit${number}`);
    await mkdir(directory, { recursive: true });
    await Promise.all(
      Array.from({ length: Math.min(FILES_A_DIRECTORY, files - first) }, (_, i) =>
        writeFile(join(directory, `file${i}.ts`), source(first + i)),
      ),
    );
  }
}

/** @param {number} seed */
function source(seed) {
  const lines = Array.from(
    { length: 10 + (seed % 30) },
    (_, i) => `export function part_${seed}_${i}() { return value_${(seed * 31 + i) % 977}; }`,
  );
  if (seed % 500 === 7) lines.push(`const needle_${seed} = true;`);
  return `${lines.join("\n")}\n`;
}
