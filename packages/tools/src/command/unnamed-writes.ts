// What a command may write beside the paths that its arguments name: files that a patch names, which are certain, and what nobody can tell.

import type { Places, Restriction } from "@soong/core";
import type { JudgedPath } from "../path/index.ts";
import { unwritableBelow } from "./paths-in-reach.ts";
import { unwritableInRepository } from "./repository-contents.ts";
import { runsLater, writtenPath } from "./written-places.ts";
import { selfRunningWhereUnpacked, writtenTrees, type TreeWriter } from "./written-trees.ts";

export interface UnnamedWrites {
  readonly certain: readonly JudgedPath[];
  /** One path for each rule about writing. */
  readonly possible: readonly string[];
}

export const NOTHING_UNNAMED: UnnamedWrites = { certain: [], possible: [] };

/** The agent's home (PERM-14). What an unknown program does there is for a sandbox to stop. */
function isOfRuntime({ kind, decision }: Restriction): boolean {
  return kind === "sensitive" && decision === "deny";
}

export async function unnamedWrites(
  command: Omit<TreeWriter, "roots">,
  places: Pick<Places, "roots" | "restrictedBy" | "restrictedGlobs" | "sensitiveBy">,
  env: Readonly<Record<string, string>>,
): Promise<UnnamedWrites> {
  const { trees, files, unpacked, restored } = writtenTrees({
    ...command,
    roots: places.roots,
  });
  const isJudged = (path: string): boolean =>
    runsLater(path) || places.restrictedBy(path, "write") !== undefined;
  const runLater = unpacked.flatMap((directory) => selfRunningWhereUnpacked(directory) ?? []);
  const below = unwritableBelow(trees, places, ({ kind }) => kind === "rule");
  const tracked =
    below.length > 0
      ? []
      : await Promise.all(restored.map((root) => unwritableInRepository(root, places, env)));
  const [inAll, inSome] = (["all", "some"] as const).map((which) =>
    unwritableBelow(
      trees.filter(({ writes }) => writes === which),
      places,
      isOfRuntime,
    ),
  ) as [string[], string[]];
  const possible = [...new Set([...below, ...tracked.flat()])];
  const doubtful = [...inSome, ...possible].filter((path) => {
    const restriction = places.restrictedBy(path, "write");
    return restriction !== undefined && isOfRuntime(restriction);
  });
  return {
    certain: [
      ...[...new Set([...files.filter(isJudged), ...runLater, ...inAll])].map(writtenPath),
      ...doubtful
        .filter((path) => !inAll.includes(path))
        .map((path) => ({ kind: "path" as const, access: "read" as const, path, sensitive: true })),
    ],
    possible,
  };
}
