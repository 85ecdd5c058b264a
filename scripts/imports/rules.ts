// The one-way rules of the house, judged over all source files at once. Pure: files in, violations out.
// Tests may look anywhere inside their own package and use any package; all else has to keep to the plan.

import { posix } from "node:path";
import { npmName } from "../house.ts";
import type { House, PackagePlan } from "../house.ts";
import { findCycles } from "./cycles.ts";
import { isTest } from "./source-file.ts";
import type { Import, SourceFile } from "./source-file.ts";

export interface Tree {
  readonly files: readonly SourceFile[];
  /** Names of the packages each of our packages declares as dependencies, by folder. */
  readonly dependencies: Readonly<Record<string, readonly string[]>>;
}

export function checkTree(house: House, tree: Tree): string[] {
  return [
    ...tree.files.flatMap((file) => checkFile(house, tree, file)),
    ...checkRooms(house, tree.files),
    ...findCycles(relativeImports(tree.files)).map((cycle) => `import cycle: ${cycle.join(" → ")}`),
  ];
}

function checkFile(house: House, tree: Tree, file: SourceFile): string[] {
  const place = placeOf(file.path);
  const plan = house.packages[place.package];
  if (plan === undefined) return [`${file.path}: package "${place.package}" is not in house.json`];
  const declared = tree.dependencies[place.package] ?? [];
  return file.imports.flatMap((imported) => {
    const problem = imported.specifier.startsWith(".")
      ? judgeRelative(plan, place, file.path, imported)
      : judgeBare(house, plan, declared, place, imported);
    return problem === undefined ? [] : [`${file.path}:${imported.line}: ${problem}`];
  });
}

function judgeRelative(
  plan: PackagePlan,
  from: Place,
  path: string,
  { specifier }: Import,
): string | undefined {
  const target = resolve(path, specifier);
  // Tests beside the code may use the stages that stand in the common folder of tests.
  if (path.endsWith(".test.ts") && target.startsWith("test/")) return undefined;
  if (!target.startsWith(`packages/${from.package}/src/`)) {
    return `"${specifier}" leaves the package; import another package by its name`;
  }
  if (isTest(path)) return undefined;
  if (isTest(target)) return `"${specifier}" is a test`;
  return plan.rooms === undefined ? undefined : judgeRooms(plan.rooms, from, placeOf(target));
}

function judgeRooms(rooms: readonly string[], from: Place, to: Place): string | undefined {
  if (from.room === to.room) return undefined;
  if (to.room === undefined)
    return `room "${from.room}" imports a file that stands above the rooms`;
  if (from.room !== undefined && rooms.indexOf(to.room) >= rooms.indexOf(from.room)) {
    return `room "${from.room}" imports "${to.room}", which comes after it`;
  }
  return to.inRoom === "index.ts" ? undefined : `"${to.room}" is entered past its index.ts`;
}

function judgeBare(
  house: House,
  plan: PackagePlan,
  declared: readonly string[],
  from: Place,
  { specifier, isType }: Import,
): string | undefined {
  const name = packageName(specifier);
  const ours = Object.keys(house.packages).find((folder) => npmName(folder) === name);
  if (isType && ours !== undefined && plan.types?.includes(ours)) return undefined;
  if (ours !== undefined && !plan.imports.includes(ours)) {
    return `"${from.package}" may not import "${specifier}"`;
  }
  if (isTest(from.path)) return undefined;
  if (specifier.startsWith("node:")) {
    const owner = house.only?.[specifier];
    if (owner !== undefined && owner !== from.package) {
      return `"${specifier}" is used by "${owner}" alone; call what that offers`;
    }
    return plan.runs === "node" ? undefined : `"${specifier}" in a package that runs anywhere`;
  }
  return declared.includes(name) ? undefined : `"${name}" is not among the package's dependencies`;
}

/** Every room is planned, has an index.ts, and that opens with a comment on what the room owns. */
function checkRooms(house: House, files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const rooms = new Set<string>();
  for (const { path } of files) {
    const place = placeOf(path);
    if (place.room !== undefined && house.packages[place.package]?.rooms !== undefined) {
      rooms.add(`packages/${place.package}/src/${place.room}`);
    }
  }
  return [...rooms].flatMap((folder) => {
    const { package: name, room = "" } = placeOf(`${folder}/index.ts`);
    if (house.packages[name]?.rooms?.includes(room) !== true) {
      return [`${folder}: room "${room}" is not in house.json`];
    }
    const index = byPath.get(`${folder}/index.ts`);
    if (index === undefined) return [`${folder}: the room has no index.ts`];
    return index.opensWithComment
      ? []
      : [`${index.path}: does not open with a comment saying what the room owns`];
  });
}

interface Place {
  readonly path: string;
  /** Folder under `packages`. */
  readonly package: string;
  /** Undefined for a file directly in `src`. */
  readonly room: string | undefined;
  readonly inRoom: string;
}

function placeOf(path: string): Place {
  const [, name = "", , ...inside] = path.split("/");
  const [room, ...rest] = inside;
  return rest.length === 0
    ? { path, package: name, room: undefined, inRoom: "" }
    : { path, package: name, room, inRoom: rest.join("/") };
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
