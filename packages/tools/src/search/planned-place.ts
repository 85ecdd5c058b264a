// What a listing or a search would look at: the place as it is judged, and again as it was judged.

import { lstat } from "node:fs/promises";
import { ToolFailure, type Plan, type PrepareContext, type PreparedPlan } from "@soong/core";
import { openDirectory, openRegularFile, resolvePath } from "../path/index.ts";

export interface Place {
  readonly path: string;
  readonly kind: "directory" | "file";
}

export async function planPlace(
  access: "list" | "search",
  given: string,
  context: PrepareContext,
): Promise<Plan> {
  const path = await resolvePath(context.roots.project, given);
  const kind = await kindAt(path);
  if (kind === "file" && access === "list") {
    throw new ToolFailure({
      code: "not_a_directory",
      message: `${JSON.stringify(path)} is a file, not a directory. Read it instead.`,
      recovery: "use_another_tool",
      details: { path },
    });
  }
  return { resources: [{ kind: "path", access, path }], facts: { kind } };
}

export function plannedPlace(plan: PreparedPlan | undefined): Place {
  const [resource] = plan?.resources ?? [];
  const facts = plan?.facts;
  if (resource?.kind !== "path" || typeof facts !== "object" || facts === null) {
    throw new Error("a directory is walked only as it was planned");
  }
  const kind = "kind" in facts && facts.kind === "file" ? "file" : "directory";
  return { path: resource.path, kind };
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
