// What a listing or a search would look at: the place as it is judged, and what is found there once it may be looked at.

import { lstat } from "node:fs/promises";
import { ToolFailure, type PreparedPlan, type Targets, type TargetsContext } from "@soong/core";
import { judgedPath, openDirectory, openRegularFile } from "../path/index.ts";

export interface Place {
  readonly path: string;
  readonly kind: "directory" | "file";
}

export async function targetsOfPlace(
  access: "list" | "search",
  given: string,
  context: TargetsContext,
): Promise<Targets> {
  return { resources: [await judgedPath(access, given, context)] };
}

export async function judgedPlace(plan: PreparedPlan | undefined): Promise<Place> {
  const [resource] = plan?.resources ?? [];
  if (resource?.kind !== "path") throw new Error("a directory is walked only as it was judged");
  const { path, access } = resource;
  const kind = await kindAt(path);
  if (kind === "file" && access === "list") {
    throw new ToolFailure({
      code: "not_a_directory",
      message: `${JSON.stringify(path)} is a file, not a directory. Read it instead.`,
      recovery: "use_another_tool",
      details: { path },
    });
  }
  return { path, kind };
}

/** Refuses what is neither file nor directory, and what cannot be reached, each with its own error. */
async function kindAt(path: string): Promise<Place["kind"]> {
  let isDirectory = false;
  try {
    isDirectory = (await lstat(path)).isDirectory();
  } catch {
    // The opening below says what is wrong.
  }
  const opened = isDirectory ? await openDirectory(path) : await openRegularFile(path);
  await opened.close();
  return isDirectory ? "directory" : "file";
}
