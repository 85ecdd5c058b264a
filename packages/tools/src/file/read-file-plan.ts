// What a read would touch, before anything is looked at: one canonical path, and whether its name in any spelling is of
// the sensitive kind (PATH-3). That there is no such file is found out when it is opened, by a call that may know it.

import { lstatSync } from "node:fs";
import { ToolFailure, type Targets, type TargetsContext, type ToolContext } from "@soong/core";
import { isCaseInsensitive, judgedPath, restrictedHardLinks, stampOf } from "../path/index.ts";
import { nearNames } from "./near-names.ts";

export async function targetsOfRead(
  given: string,
  context: Pick<TargetsContext, "roots" | "restrictedBy" | "restrictedGlobs">,
  ignoresCase = isCaseInsensitive,
): Promise<Targets> {
  return { resources: [await judgedPath("read", given, context, ignoresCase)] };
}

/** With the names beside it that the model may know of: a restricted one is not among them. */
export async function refuseMissing(
  given: string,
  path: string,
  places: Pick<ToolContext, "restrictedBy" | "restrictedGlobs">,
): Promise<void> {
  if ((await stampOf(path)) !== undefined) return;
  const links = restrictedHardLinks(places, "list");
  const isLinked = (other: string): boolean => {
    const node = lstatSync(other, { throwIfNoEntry: false, bigint: true });
    return node !== undefined && links.has(node);
  };
  const near = await nearNames(
    path,
    (other) =>
      places.restrictedBy(other, "list") !== undefined || (links.size > 0 && isLinked(other)),
  );
  throw fileNotFound(given, path, near);
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
