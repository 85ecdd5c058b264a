// What taking a change back would do to the file, as a diff, before anybody says yes to it (CODE-6).

import { readFile } from "node:fs/promises";
import type { ArtifactStore } from "@soong/core";
import { wholeFileDiff } from "../edit/index.ts";
import type { Undo } from "./undo.ts";

/** Undefined where the file or what it was before cannot be read. */
export async function undoDiff(
  { path, pre_image }: Undo,
  { artifacts }: { readonly artifacts: Pick<ArtifactStore, "read"> },
): Promise<string | undefined> {
  const now = await readFile(path).catch(() => undefined);
  if (now === undefined) return undefined;
  const before = pre_image === null ? new Uint8Array() : await artifacts.read(pre_image);
  return before === undefined ? undefined : wholeFileDiff(path, now, before);
}
