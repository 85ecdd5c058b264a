import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compiledFolders, npmName, packageFolders } from "./layout.ts";
import { root } from "./setup.mjs";

interface Config {
  readonly references: readonly { readonly path: string }[];
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

// What is missing is not an error of the compiler: it would build in the wrong order, on what an earlier build left.
test.each(packageFolders())("%s refers the compiler to each of our packages it needs", (folder) => {
  const { dependencies, devDependencies } = read("packages", folder, "package.json") as Manifest;
  const needed = packageFolders().filter(
    (name) => npmName(name) in { ...dependencies, ...devDependencies },
  );
  const { references } = read("packages", folder, "tsconfig.json") as Config;
  expect(references.map(({ path }) => path).toSorted()).toEqual(
    needed.map((name) => `../${name}`).toSorted(),
  );
});

test("the tests refer the compiler to every package", () => {
  const { references } = read("tsconfig.json") as Config;
  expect(references.map(({ path }) => path).toSorted()).toEqual(
    packageFolders().flatMap(compiledFolders).toSorted(),
  );
});

function read(...path: string[]): unknown {
  const text = readFileSync(join(root, ...path), "utf8");
  return JSON.parse(text.replaceAll(/^\s*\/\/.*$/gm, ""));
}
