// Every message of the troubleshooting page is one that the program has.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { expect, test } from "vitest";

const page = readFileSync("docs/troubleshooting.md", "utf8");
const messages = [...page.matchAll(/^### (`{1,2})(.+)\1$/gm)].map(([, , text = ""]) => text);

/** The words of a shell. */
const OF_OTHERS = ["soong: command not found"];

test("every message of the page is in the program", () => {
  verifies("DOC-1");
  const source = programText();
  const parts = messages
    .filter((message) => !OF_OTHERS.includes(message))
    .flatMap((message) => message.split("…").map((part) => part.trim()))
    // What is left between two names says nothing.
    .filter((part) => /\p{L}{2}/u.test(part));
  expect(parts.length).toBeGreaterThan(30);
  expect(parts.filter((part) => !source.includes(part))).toEqual([]);
});

/** As it is printed: literals that are joined are one, and nothing is escaped. */
function programText(): string {
  const folders = readdirSync("packages").flatMap((name) => [
    join("packages", name, "src"),
    join("packages", name, "bin"),
  ]);
  return [...folders.filter((folder) => existsSync(folder)), "scripts"]
    .flatMap(sourceFiles)
    .map((file) => readFileSync(file, "utf8"))
    .join("\n")
    .replaceAll(/["`] \+\s+["`]/g, "")
    .replaceAll(/\\(["'`])/g, "$1");
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.(ts|mjs|cjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
