// Carries a planned change out: the pre-image is kept as an artifact first (CODE-6), then the file is
// replaced at once, and the run remembers what it left there (CODE-5).

import { toolResult, type ToolContext } from "@soong/core";
import { PRE_IMAGE } from "@soong/core/internal";
import type { FilesRead } from "../file/index.ts";
import { defaultLockDirectory } from "@soong/platform";
import { commitFile } from "../path/index.ts";
import { judgedChange, type KeptChanges, type Planner } from "./planned-change.ts";
import type { Undo } from "./undo.ts";

export interface ChangeToolOptions {
  /** Where the locks of files are; the same for every process of a user. */
  readonly lockDirectory?: string;
  readonly filesRead?: FilesRead;
}

export interface Wording {
  /** `Edited` or `Wrote`. */
  readonly done: string;
  readonly created: string;
}

/** A diff longer than this is not repeated in the result; its preview is on record. */
const MAX_DIFF_CHARS = 16 * 1024;

export async function commitChange(
  planner: Planner,
  context: ToolContext,
  options: ChangeToolOptions & {
    readonly kept: KeptChanges;
    readonly createDirs: boolean;
    readonly wording: Wording;
  },
): Promise<unknown> {
  const change = await judgedChange(planner, context, options.kept);
  const { path, name, before, after, after_sha256, diff } = change;
  const pre_image =
    before === undefined
      ? null
      : await context.artifacts.write(before.bytes, {
          media_type: PRE_IMAGE,
          name: `${name}.before`,
        });
  const { stamp } = await commitFile({
    path,
    bytes: after,
    expected: before?.sha256 ?? null,
    createDirs: options.createDirs,
    lockDirectory: options.lockDirectory ?? defaultLockDirectory(),
    signal: context.signal,
  });
  options.filesRead?.note(context.runId, path, stamp);
  const undo: Undo = {
    path,
    pre_image: pre_image?.artifact_id ?? null,
    after_sha256,
  };
  const { done, created } = options.wording;
  const text = `${before === undefined ? created : done} ${name} (${after.length} bytes).`;
  return toolResult({
    content: [{ type: "text", text }],
    summary: text,
    data: {
      path,
      created: before === undefined,
      size: after.length,
      sha256: after_sha256,
      ...(diff.length > MAX_DIFF_CHARS || isRestricted(path, context) ? {} : { diff }),
    },
    metadata: { undo: { ...undo } },
  });
}

/** A yes to a change of a file is not a yes for the model to read what was in it. */
function isRestricted(path: string, { plan, restrictedBy, sensitiveBy }: ToolContext): boolean {
  const isSensitive = plan?.resources.some(
    (resource) => resource.kind === "path" && resource.sensitive === true,
  );
  return (
    isSensitive === true ||
    sensitiveBy(path) !== undefined ||
    restrictedBy(path, "read") !== undefined
  );
}

/** What a person sees: the diff, as long as the result holds it. */
export function renderChange({ data, summary }: { data?: unknown; summary: string }): string {
  const { diff } = (data ?? {}) as { diff?: unknown };
  return typeof diff === "string" ? `${summary}\n${diff}` : summary;
}
