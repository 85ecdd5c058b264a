// A change of one file: planned without touching it, as the bytes that would be there, the diff that the user
// is shown, and the hashes both the approval and the commit are bound to (DEF-5, PERM-8); then carried out: the
// pre-image is kept as an artifact first (CODE-6), the file is replaced at once, and the run remembers what it
// left there (CODE-5).

import { createHash } from "node:crypto";
import {
  ToolFailure,
  toolResult,
  type HandlerResult,
  type Plan,
  type PrepareContext,
  type PreparedPlan,
  type TargetsContext,
  type ToolContext,
} from "@soong/core";
import { PRE_IMAGE } from "@soong/core/internal";
import { defaultLockDirectory } from "@soong/platform";
import type { FilesRead } from "../file/files-read.ts";
import {
  commitFile,
  plannedPath,
  readWholeFile,
  shownPath,
  targetPath,
  type WholeFile,
} from "../path/index.ts";

/** Beyond this a file is not read whole to be changed; commands and streams are for such files. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** A diff longer than this is not repeated in the result; its preview is on record. */
const MAX_DIFF_CHARS = 16 * 1024;
/** Between its plan and its execution a change is kept, so that an ordinary call plans once. */
const MOST_KEPT = 4;

export interface ChangeToolOptions {
  /** Where the locks of files are; the same for every process of a user. */
  readonly lockDirectory?: string;
  readonly filesRead?: FilesRead;
}

export interface PlannedChange {
  readonly after: Uint8Array;
  readonly diff: string;
  readonly destructive: boolean;
}

export interface ChangeTarget {
  /** Canonical. */
  readonly path: string;
  /** As users write it. */
  readonly name: string;
}

export interface Changing<Input> {
  /** Plans on what is there now; throws a ToolFailure where the change cannot be made. */
  readonly plan: (
    input: Input,
    before: WholeFile | undefined,
    target: ChangeTarget,
  ) => PlannedChange;
  readonly createDirs: (input: Input) => boolean;
  /** Such as `Edited`, and `Created` for a file that was not there. */
  readonly done: string;
  readonly created: string;
}

/** Kept in the metadata of the result of a change. */
export interface Undo {
  readonly path: string;
  /** The artifact with the bytes of before; null when there was no file. */
  readonly pre_image: string | null;
  readonly after_sha256: string;
}

interface ReadyChange extends PlannedChange, ChangeTarget {
  readonly before: WholeFile | undefined;
  readonly after_sha256: string;
}

/** What the definition of a tool that changes one file has beside its name, words and schema. */
export function changesFile<Input extends { readonly path: string }>(
  { lockDirectory, filesRead }: ChangeToolOptions,
  changing: Changing<Input>,
) {
  /** Planned and not executed yet, by call. */
  const planned = new Map<string, ReadyChange>();
  return {
    permission: "write" as const,
    tags: ["code", "write", "filesystem", "artifact"],
    concurrency_safe: false,
    open_world: false,

    targets: ({ path }: Input, context: TargetsContext) => targetPath("write", path, context),

    async prepare(input: Input, context: PrepareContext): Promise<Plan> {
      const { targets } = context;
      const change = await planChange(changing, input, plannedPath(targets).path, context);
      keep(callKey(context), change);
      const { path, before, diff, destructive, after, after_sha256 } = change;
      return {
        resources: [...targets],
        preview: { kind: "diff", path, diff },
        pre_images: [{ path, sha256: before?.sha256 ?? null }],
        destructive,
        facts: { after_sha256, bytes: after.length },
      };
    },

    async handler(input: Input, context: ToolContext): Promise<HandlerResult> {
      const change = await judgedChange(input, context);
      const { path, name, before, after, after_sha256, diff } = change;
      const about = { media_type: PRE_IMAGE, name: `${name}.before` };
      const preImage = before && (await context.artifacts.write(before.bytes, about));
      const { stamp } = await commitFile({
        path,
        bytes: after,
        expected: before?.sha256 ?? null,
        createDirs: changing.createDirs(input),
        lockDirectory: lockDirectory ?? defaultLockDirectory(),
        signal: context.signal,
      });
      filesRead?.note(context.runId, path, stamp);
      const created = before === undefined;
      const undo: Undo = { path, pre_image: preImage?.artifact_id ?? null, after_sha256 };
      const text = `${created ? changing.created : changing.done} ${name} (${after.length} bytes).`;
      const isShown = diff.length <= MAX_DIFF_CHARS && !isRestricted(path, context);
      return toolResult({
        content: [{ type: "text", text }],
        summary: text,
        data: { path, created, size: after.length, sha256: after_sha256, ...(isShown && { diff }) },
        metadata: { undo: { ...undo } },
      });
    },

    /** What the user sees: the diff, as long as the result holds it. */
    render({ data, summary }: { data?: unknown; summary: string }): string {
      const { diff } = (data ?? {}) as { diff?: unknown };
      return typeof diff === "string" ? `${summary}\n${diff}` : summary;
    },
  };

  /** The oldest goes: a call that was denied never comes back for its change. */
  function keep(key: string, change: ReadyChange): void {
    planned.delete(key);
    planned.set(key, change);
    const [oldest] = planned.keys();
    if (planned.size > MOST_KEPT && oldest !== undefined) planned.delete(oldest);
  }

  /** The change that was judged; made once more on the file as it is now, if it is not kept any more. */
  async function judgedChange(input: Input, context: ToolContext): Promise<ReadyChange> {
    const { plan } = context;
    const { path } = plannedPath(plan?.resources);
    const known = planned.get(callKey(context));
    planned.delete(callKey(context));
    // The commit compares the file with the pre-image; this compares the plan with what was judged.
    if (known !== undefined && isJudged(known, plan)) return known;
    const change = await planChange(changing, input, path, context);
    if (isJudged(change, plan)) return change;
    throw new ToolFailure({
      code: "changed_since_approval",
      message: `${path} is not as it was when this change was planned; nothing was written. Read it again and repeat the change.`,
      retryable: true,
      recovery: "retry",
    });
  }
}

async function planChange<Input>(
  { plan }: Changing<Input>,
  input: Input,
  path: string,
  { roots, restrictedBy }: TargetsContext,
): Promise<ReadyChange> {
  const before = await readWholeFile(path, { maxBytes: MAX_FILE_BYTES });
  const name = shownPath(roots.project, path);
  try {
    const change = plan(input, before, { path, name });
    return { ...change, path, name, before, after_sha256: sha256Of(change.after) };
  } catch (error) {
    const kind = error instanceof ToolFailure ? restrictedBy(path, "read")?.kind : undefined;
    if (kind !== "rule" && kind !== "hook") throw error;
    // Why a change cannot be made is about what is in the file; a yes to write it is none to read it (PERM-15).
    throw new ToolFailure({
      code: (error as ToolFailure).error.code,
      error_class: "invalid_arguments",
      message: `${name} cannot be changed as given. A rule restricts reading it, so the reason is not shown. Nothing was changed.`,
      recovery: "ask_the_user",
    });
  }
}

function isJudged(change: ReadyChange, plan: PreparedPlan | undefined): boolean {
  const { path, before, after_sha256 } = change;
  const judged = plan?.pre_images?.[0];
  const { after_sha256: judgedAfter } = (plan?.facts ?? {}) as { after_sha256?: string };
  return (
    judged?.path === path &&
    judged.sha256 === (before?.sha256 ?? null) &&
    judgedAfter === after_sha256
  );
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

function callKey({ sessionId, toolCallId }: TargetsContext): string {
  return `${sessionId}/${toolCallId}`;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
