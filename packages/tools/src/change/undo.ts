// The way back (CODE-6): a written or edited file as it was before, if it is still as the call left it.

import { readFile } from "node:fs/promises";
import { ToolFailure, type ArtifactStore, type ToolResult } from "@soong/core";
import { defaultLockDirectory } from "@soong/platform";
import { wholeFileDiff } from "../edit/unified-diff.ts";
import { commitFile, removeFile } from "../path/index.ts";
import { sha256Of, type Undo } from "./change-file.ts";

/** What a result says about taking it back; undefined for one that changed no file. */
export function undoOf(result: ToolResult): Undo | undefined {
  const undo = result.metadata.tool?.["undo"] as Partial<Undo> | undefined;
  if (result.is_error || typeof undo?.path !== "string") return undefined;
  if (typeof undo.after_sha256 !== "string") return undefined;
  const { path, pre_image = null, after_sha256 } = undo;
  return { path, pre_image, after_sha256 };
}

/** Puts it back, or throws a ToolFailure and changes nothing. */
export async function undoChange(
  undo: Undo,
  options: { readonly artifacts: ArtifactStore; readonly lockDirectory?: string },
): Promise<{ path: string; restored: "content" | "removed" }> {
  const { path, pre_image, after_sha256 } = undo;
  const lockDirectory = options.lockDirectory ?? defaultLockDirectory();
  if (pre_image === null) {
    await removeFile({ path, expected: after_sha256, lockDirectory });
    return { path, restored: "removed" };
  }
  const bytes = await options.artifacts.read(pre_image);
  const record = await options.artifacts.stat(pre_image);
  if (bytes === undefined || record === undefined || sha256Of(bytes) !== record.sha256) {
    throw new ToolFailure({
      code: "pre_image_gone",
      message: `The earlier content of ${path} (artifact ${pre_image}) is not kept any more; nothing was changed.`,
    });
  }
  await commitFile({ path, bytes, expected: after_sha256, createDirs: false, lockDirectory });
  return { path, restored: "content" };
}

/**
 * What taking a change back would do to the file, as a diff, before anyone says yes to it. Undefined where the file or what it was before cannot be read.
 */
export async function undoDiff(
  { path, pre_image }: Undo,
  { artifacts }: { readonly artifacts: Pick<ArtifactStore, "read"> },
): Promise<string | undefined> {
  const now = await readFile(path).catch(() => undefined);
  if (now === undefined) return undefined;
  const before = pre_image === null ? new Uint8Array() : await artifacts.read(pre_image);
  return before === undefined ? undefined : wholeFileDiff(path, now, before);
}
