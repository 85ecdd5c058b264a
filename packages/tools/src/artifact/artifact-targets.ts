// What reading an artifact shows (PERM-15): the paths that the call which wrote it named or could reach, judged like a read of
// them. The bytes are what that call saw, so what it was allowed to do then is no answer to a rule of now.

import { homedir } from "node:os";
import type { Resource, Targets, TargetsContext } from "@soong/core";
import { pathsInReach, restrictedArguments, restrictedBelow } from "../command/index.ts";
import { isDirectory, judgedPath } from "../path/index.ts";

export async function targetsOfArtifact(
  artifact_id: string,
  context: TargetsContext,
): Promise<Targets> {
  const sources = await context.sourcesOfArtifact(artifact_id);
  const resources: Resource[] = [];
  for (const source of sources) {
    if (source.kind === "path") resources.push(...(await readAgain(source, context)));
    if (source.kind === "command") resources.push(...printedBy(source, context));
  }
  return { resources };
}

type PathSource = Extract<Resource, { kind: "path" }>;
type CommandSource = Extract<Resource, { kind: "command" }>;

async function readAgain(source: PathSource, context: TargetsContext): Promise<Resource[]> {
  const names = [source.path, ...(source.also ?? [])];
  const paths = await Promise.all(names.map((name) => judgedPath("read", name, context)));
  return paths.flatMap((path) => {
    const below = isDirectory(path.path) ? restrictedBelow(() => [path.path], context) : [];
    const isRestricted = [path.path, ...(path.also ?? [])].some(
      (name) => context.restrictedBy(name, "read", path.ignores_case) !== undefined,
    );
    if (!isRestricted && below.length === 0) return [];
    return [{ ...path, ...(below.length === 0 ? {} : { may_reach: below }) }];
  });
}

function printedBy({ argv, cwd, executable }: CommandSource, context: TargetsContext): Resource[] {
  const given = { argv: [...argv, cwd], cwd, home: homedir() };
  const { named, guessed } = restrictedArguments(given, context);
  const reached = pathsInReach({ argv, cwd, executable, read_only: false }, context);
  const may_reach = [...new Set([...reached, ...guessed])];
  if (may_reach.length === 0) return named;
  return [...named, { kind: "path", access: "list", path: cwd, may_reach }];
}
