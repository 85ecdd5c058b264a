// A change of one file, planned without touching it: the bytes that would be there, the diff that a
// person is shown, and the hashes both the approval and the commit are bound to (DEF-5, PERM-8).

import { createHash } from "node:crypto";
import {
  ToolFailure,
  type Plan,
  type PrepareContext,
  type PreparedPlan,
  type Resource,
  type Targets,
  type TargetsContext,
  type ToolContext,
} from "@soong/core";
import { type WholeFile, judgedPath, readWholeFile, shownPath } from "../path/index.ts";

/** Beyond this a file is not read whole to be changed; commands and streams are for such files. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export interface PlannedChange {
  readonly after: Uint8Array;
  readonly diff: string;
  readonly destructive: boolean;
}

/** Plans on what is there now; throws a ToolFailure where the change cannot be made. */
export type Planner = (before: WholeFile | undefined, target: ChangeTarget) => PlannedChange;

export interface ChangeTarget {
  /** Canonical. */
  readonly path: string;
  /** As people write it. */
  readonly name: string;
}

export interface ReadyChange extends PlannedChange {
  readonly path: string;
  readonly name: string;
  readonly before: WholeFile | undefined;
  readonly after_sha256: string;
}

/** Between its plan and its execution a change is kept, so that an ordinary call plans once. */
export type KeptChanges = Map<string, ReadyChange>;

const MOST_KEPT = 4;

export async function targetsOfChange(given: string, context: TargetsContext): Promise<Targets> {
  return { resources: [await judgedPath("write", given, context)] };
}

export async function planChange(
  planner: Planner,
  context: PrepareContext,
  kept: KeptChanges,
): Promise<Plan> {
  const { targets } = context;
  const path = pathOf(targets);
  const before = await readWholeFile(path, { maxBytes: MAX_FILE_BYTES });
  const change = readyChange(planner, path, before, context);
  keep(kept, keyOf(context), change);
  return {
    resources: [...targets],
    preview: { kind: "diff", path, diff: change.diff },
    pre_images: [{ path, sha256: before?.sha256 ?? null }],
    destructive: change.destructive,
    facts: { after_sha256: change.after_sha256, bytes: change.after.length },
  };
}

/** The change that was judged; made once more on the file as it is now, if it is not kept any more. */
export async function judgedChange(
  planner: Planner,
  context: ToolContext,
  kept: KeptChanges,
): Promise<ReadyChange> {
  const { plan } = context;
  const path = pathOf(plan?.resources);
  const { after_sha256 } = (plan?.facts ?? {}) as { after_sha256?: string };
  const known = kept.get(keyOf(context));
  kept.delete(keyOf(context));
  // The commit compares the file with the pre-image; this compares the plan with what was judged.
  if (known !== undefined && isJudged(known, plan, after_sha256)) return known;
  const before = await readWholeFile(path, { maxBytes: MAX_FILE_BYTES });
  const change = readyChange(planner, path, before, context);
  if (!isJudged(change, plan, after_sha256)) throw changed(path);
  return change;
}

function readyChange(
  planner: Planner,
  path: string,
  before: WholeFile | undefined,
  { roots, restrictedBy }: TargetsContext,
): ReadyChange {
  const name = shownPath(roots.project, path);
  let change: PlannedChange;
  try {
    change = planner(before, { path, name });
  } catch (error) {
    const kind = error instanceof ToolFailure ? restrictedBy(path, "read")?.kind : undefined;
    throw kind === "rule" || kind === "hook" ? withoutReason(name, error as ToolFailure) : error;
  }
  return { ...change, path, name, before, after_sha256: sha256Of(change.after) };
}

/** Why a change cannot be made is about what is in the file; a yes to write it is none to read it (PERM-15). */
function withoutReason(name: string, { error }: ToolFailure): ToolFailure {
  return new ToolFailure({
    code: error.code,
    error_class: "invalid_arguments",
    message: `${name} cannot be changed as given. A rule restricts reading it, so the reason is not told. Nothing was changed.`,
    recovery: "ask_the_user",
  });
}

function isJudged(
  { path, before, after_sha256 }: ReadyChange,
  plan: PreparedPlan | undefined,
  judgedAfter: string | undefined,
): boolean {
  const judged = plan?.pre_images?.[0];
  return (
    judged?.path === path &&
    judged.sha256 === (before?.sha256 ?? null) &&
    judgedAfter === after_sha256
  );
}

function keyOf({ sessionId, toolCallId }: TargetsContext): string {
  return `${sessionId}/${toolCallId}`;
}

/** The oldest goes: a call that was denied never comes back for its change. */
function keep(kept: KeptChanges, key: string, change: ReadyChange): void {
  kept.delete(key);
  kept.set(key, change);
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
  }
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function pathOf(resources: readonly Resource[] | undefined): string {
  const [target] = resources ?? [];
  if (target?.kind !== "path") throw new Error("a change is carried out only as it was planned");
  return target.path;
}

function changed(path: string): ToolFailure {
  return new ToolFailure({
    code: "changed_since_approval",
    message: `${path} is not as it was when this change was planned; nothing was written. Read it again and repeat the change.`,
    retryable: true,
    recovery: "retry",
  });
}
