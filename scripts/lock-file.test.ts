import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./setup.mjs";

interface Entry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const entries = Object.entries(lock.packages);

// npm 11 refuses a lock file that lacks the binaries of other platforms, which npm does not add to an existing one.
test("the lock file has every dependency of every locked package, also those of other platforms", () => {
  const missing = entries.flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !isLocked(name, path))
      .map((name) => `${path} needs ${name}`),
  );
  expect(missing).toEqual([]);
});

test("every installed package is locked by version and integrity, and comes from no fixed registry", () => {
  const loose = entries
    .filter(([path, { link }]) => path.includes("node_modules/") && link !== true)
    .filter(
      ([, { version, integrity, resolved }]) =>
        version === undefined || integrity === undefined || resolved !== undefined,
    )
    .map(([path]) => path);
  expect(loose).toEqual([]);
});

test("every package with an install script is denied by name", () => {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly allowScripts: Readonly<Record<string, boolean>>;
  };
  const withScript = entries.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const names = withScript.map(([path]) => path.replace(/^.*node_modules\//, ""));
  expect(manifest.allowScripts).toEqual(Object.fromEntries(names.map((name) => [name, false])));
});

/** Looks where Node does: in the package's own node_modules, then in those of the folders above it. */
function isLocked(name: string, from: string): boolean {
  if (`${from}/node_modules/${name}`.replace(/^\//, "") in lock.packages) return true;
  return from !== "" && isLocked(name, from.split("/").slice(0, -1).join("/"));
}
