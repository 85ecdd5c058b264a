// What a read would touch, before anything is looked at: one canonical path, and whether its name in any spelling is of
// the sensitive kind (PATH-3). That there is no such file is found out when it is opened, by a call that may know it.

import { dirname, resolve } from "node:path";
import { ToolFailure, type Targets, type TargetsContext, type ToolContext } from "@soong/core";
import { isCaseInsensitive, resolvePath, stampOf } from "../path/index.ts";
import { nearNames } from "./near-names.ts";

export async function targetsOfRead(
  given: string,
  context: Pick<TargetsContext, "roots" | "sensitiveBy">,
  ignoresCase = isCaseInsensitive,
): Promise<Targets> {
  const { roots, sensitiveBy } = context;
  const path = await resolvePath(roots.project, given);
  const sensitive = await hasSensitiveName(
    [path, resolve(roots.project, given)],
    sensitiveBy,
    ignoresCase,
  );
  return {
    resources: [{ kind: "path", access: "read", path, ...(sensitive ? { sensitive } : {}) }],
  };
}

/** With the names beside it that the model may know of: a restricted one is not among them. */
export async function refuseMissing(
  given: string,
  path: string,
  { restrictedBy }: Pick<ToolContext, "restrictedBy">,
): Promise<void> {
  if ((await stampOf(path)) !== undefined) return;
  const near = await nearNames(path, (other) => restrictedBy(other, "list") !== undefined);
  throw fileNotFound(given, path, near);
}

/** By the name the file has, by that of a link to it, or by another case where the disk takes any. */
async function hasSensitiveName(
  paths: readonly string[],
  sensitiveBy: TargetsContext["sensitiveBy"],
  ignoresCase: typeof isCaseInsensitive,
): Promise<boolean> {
  for (const path of paths) {
    if (sensitiveBy(path) !== undefined) return true;
    const folded = path.toLowerCase();
    if (sensitiveBy(folded) !== undefined && (await ignoresCase(dirname(path)))) return true;
  }
  return false;
}

function fileNotFound(given: string, path: string, near: readonly string[]): ToolFailure {
  const advice =
    near.length === 0
      ? "Look for it with code.list_dir or code.search."
      : `In the same directory: ${near.map((name) => JSON.stringify(name)).join(", ")}.`;
  return new ToolFailure({
    code: "file_not_found",
    error_class: "invalid_arguments",
    message: `There is no file ${JSON.stringify(given)} (looked for ${JSON.stringify(path)}). ${advice}`,
    recovery: "change_arguments",
    details: { path, near_names: [...near] },
  });
}
