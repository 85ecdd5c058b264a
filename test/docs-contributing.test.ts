// What CONTRIBUTING advises for the tests of each package runs all of them.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const commands = [
  ...readFileSync("CONTRIBUTING.md", "utf8").matchAll(/^\| .*`npx vitest run (.+)`/gm),
];
const filters = commands.map(([, paths = ""]) => paths.split(" "));

test("every test file belongs to one of the commands", () => {
  const files = ["packages", "test", "scripts"].flatMap(testFiles);
  const missed = files.filter((file) => !filters.flat().some((filter) => file.includes(filter)));
  expect(missed).toEqual([]);
});

test("every path of the commands has tests", () => {
  const files = ["packages", "test", "scripts"].flatMap(testFiles);
  const empty = filters.flat().filter((filter) => !files.some((file) => file.includes(filter)));
  expect(empty).toEqual([]);
});

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(node_modules|dist)$/.test(entry.name) ? [] : testFiles(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
