// The layout of the repository as data (layout.json): which package may import which, and the order of the modules
// inside one. A new package or module is a new entry there.

import { existsSync } from "node:fs";
import { join } from "node:path";
import layoutData from "./layout.json" with { type: "json" };

export interface PackageLayout {
  /** `anywhere` means no Node: the package has to work in Bun, Deno, a worker, a bare context. */
  readonly runs: "anywhere" | "node";
  /** Folders of our own packages it may import. */
  readonly imports: readonly string[];
  /** Folders of our own packages of which it may import types alone: they are dev dependencies. */
  readonly types?: readonly string[];
  /** Folders under `src`, each of which may import itself and those before it. Without: no modules. */
  readonly modules?: readonly string[];
}

export interface Layout {
  /** Modules of Node that one package alone may use, so that there is one place for what they do. */
  readonly only?: Readonly<Record<string, string>>;
  readonly packages: Readonly<Record<string, PackageLayout>>;
}

export const layout = layoutData as Layout;

export function npmName(folder: string): string {
  return folder === "cli" ? "soong" : `@soong/${folder}`;
}

/** What the compiler builds of a package: its sources, and what it publishes beside them. */
export function compiledFolders(name: string): string[] {
  const folder = `packages/${name}`;
  return [folder, `${folder}/conformance`].filter((path) => existsSync(`${path}/tsconfig.json`));
}

/** The packages of the layout that exist, each after those it imports. */
export function packageFolders(): string[] {
  const names = Object.keys(layout.packages);
  return names.filter((name) => existsSync(join("packages", name, "package.json")));
}
