// The one-way rules of the layout, checked over all source files at once. Pure: files in, violations out.
// Tests may look anywhere inside their own package and use any package; all else has to keep to the layout.

import { posix } from "node:path";
import { npmName } from "../layout.ts";
import type { Layout, PackageLayout } from "../layout.ts";
import { findCycles } from "./cycles.ts";
import { isTest } from "./source-file.ts";
import type { Import, SourceFile } from "./source-file.ts";

export interface Tree {
  readonly files: readonly SourceFile[];
  /** Names of the packages each of our packages declares as dependencies, by folder. */
  readonly dependencies: Readonly<Record<string, readonly string[]>>;
}

export function checkTree(layout: Layout, tree: Tree): string[] {
  const paths = new Set(tree.files.map(({ path }) => path));
  return [
    ...tree.files.flatMap((file) => checkFile(layout, tree, file, paths)),
    ...checkModules(layout, tree.files),
    ...findCycles(relativeImports(tree.files)).map((cycle) => `import cycle: ${cycle.join(" → ")}`),
  ];
}

function checkFile(
  layout: Layout,
  tree: Tree,
  file: SourceFile,
  paths: ReadonlySet<string>,
): string[] {
  const place = placeOf(file.path);
  const own = layout.packages[place.package];
  if (own === undefined) return [`${file.path}: package "${place.package}" is not in layout.json`];
  const declared = tree.dependencies[place.package] ?? [];
  return file.imports.flatMap((imported) => {
    const problem = imported.specifier.startsWith(".")
      ? judgeRelative(own, place, imported, paths)
      : judgeBare(layout, own, declared, place, imported);
    return problem === undefined ? [] : [`${file.path}:${imported.line}: ${problem}`];
  });
}

function judgeRelative(
  own: PackageLayout,
  from: Place,
  { specifier }: Import,
  paths: ReadonlySet<string>,
): string | undefined {
  const { path } = from;
  const target = resolve(path, specifier);
  // Tests beside the code may use the stages that stand in the common folder of tests.
  if (path.endsWith(".test.ts") && target.startsWith("test/")) return undefined;
  const folder = `packages/${from.package}/`;
  if (!target.startsWith(isTest(path) ? folder : `${folder}src/`)) {
    return `"${specifier}" leaves the package; import another package by its name`;
  }
  if (isTest(path)) return undefined;
  if (isTest(target)) return `"${specifier}" is a test`;
  return own.modules && judgeModules(own.modules, from, placeOf(target), paths);
}

/** A module that has an index.ts is entered through it, any other through the file that is meant. */
function judgeModules(
  modules: readonly string[],
  from: Place,
  to: Place,
  paths: ReadonlySet<string>,
): string | undefined {
  if (from.module === to.module) return undefined;
  if (to.module === undefined) return `module "${from.module}" imports a file above the modules`;
  if (from.module !== undefined && modules.indexOf(to.module) >= modules.indexOf(from.module)) {
    return `module "${from.module}" imports "${to.module}", which comes after it`;
  }
  const isPast =
    to.inModule !== "index.ts" && paths.has(`packages/${to.package}/src/${to.module}/index.ts`);
  return isPast ? `"${to.module}" is entered past its index.ts` : undefined;
}

function judgeBare(
  layout: Layout,
  own: PackageLayout,
  declared: readonly string[],
  from: Place,
  { specifier, isType }: Import,
): string | undefined {
  const name = packageName(specifier);
  const ours = Object.keys(layout.packages).find((folder) => npmName(folder) === name);
  if (isType && ours !== undefined && own.types?.includes(ours)) return undefined;
  if (ours !== undefined && !own.imports.includes(ours)) {
    return `"${from.package}" may not import "${specifier}"`;
  }
  if (isTest(from.path)) return undefined;
  if (specifier.startsWith("node:")) {
    const owner = layout.only?.[specifier];
    if (owner !== undefined && owner !== from.package) {
      return `"${specifier}" is used by "${owner}" alone; call what that offers`;
    }
    return own.runs === "node" ? undefined : `"${specifier}" in a package that runs anywhere`;
  }
  return declared.includes(name) ? undefined : `"${name}" is not among the package's dependencies`;
}

/** Every module is in the layout; an index.ts opens with a comment on what its module owns. */
function checkModules(layout: Layout, files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const modules = new Set<string>();
  for (const { path } of files) {
    const place = placeOf(path);
    if (place.module !== undefined && layout.packages[place.package]?.modules !== undefined) {
      modules.add(`packages/${place.package}/src/${place.module}`);
    }
  }
  return [...modules].flatMap((folder) => {
    const { package: name, module = "" } = placeOf(`${folder}/index.ts`);
    if (layout.packages[name]?.modules?.includes(module) !== true) {
      return [`${folder}: module "${module}" is not in layout.json`];
    }
    const index = byPath.get(`${folder}/index.ts`);
    return index === undefined || index.opensWithComment
      ? []
      : [`${index.path}: does not open with a comment saying what the module owns`];
  });
}

interface Place {
  readonly path: string;
  /** Folder under `packages`. */
  readonly package: string;
  /** Undefined for a file directly in `src`. */
  readonly module: string | undefined;
  readonly inModule: string;
}

function placeOf(path: string): Place {
  const [, name = "", , ...inside] = path.split("/");
  const [module, ...rest] = inside;
  return rest.length === 0
    ? { path, package: name, module: undefined, inModule: "" }
    : { path, package: name, module, inModule: rest.join("/") };
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function relativeImports(files: readonly SourceFile[]): Map<string, string[]> {
  return new Map(
    files.map(({ path, imports }) => [
      path,
      imports
        .filter(({ specifier }) => specifier.startsWith("."))
        .map(({ specifier }) => resolve(path, specifier)),
    ]),
  );
}

function resolve(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}
