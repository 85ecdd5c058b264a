// A change of one file, planned without touching it: the bytes that would be there, the diff that a
// person is shown, and the hashes both the approval and the commit are bound to (DEF-5, PERM-8).

import { createHash } from "node:crypto";
import { relative } from "node:path";
import {
  ToolFailure,
  type Plan,
  type PrepareContext,
  type PreparedPlan,
  type TargetsContext,
  type Roots,
  type ToolContext,
} from "@soong/core";
import { readWholeFile, resolvePath, type WholeFile } from "../path/index.ts";

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

export interface ChangeRequest {
  readonly path: string;
  readonly planner: Planner;
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

export async function planChange(
  request: ChangeRequest,
  context: PrepareContext,
  kept: KeptChanges,
): Promise<Plan> {
  const path = await resolvePath(context.roots.project, request.path);
  const target = { kind: "path", access: "write", path } as const;
  const before = await readWholeFile(path, { maxBytes: MAX_FILE_BYTES });
  const pre_images = [{ path, sha256: before?.sha256 ?? null }];
  try {
    const change = readyChange(request.planner, path, before, context.roots);
    keep(kept, keyOf(context), change);
    return {
      resources: [target],
      preview: { kind: "diff", path, diff: change.diff },
      pre_images,
      destructive: change.destructive,
      facts: { after_sha256: change.after_sha256, bytes: change.after.length },
    };
  } catch (error) {
    // Why a change of a sensitive file cannot be made says what is in it. It is said after the yes.
    if (!(error instanceof ToolFailure) || context.sensitiveBy(path) === undefined) throw error;
    const text =
      "This change cannot be made as it is given; why is said once the file may be seen.";
    return { resources: [target], preview: { kind: "text", text }, pre_images };
  }
}

/** The change that was judged; made once more on the file as it is now, if it is not kept any more. */
export async function judgedChange(
  planner: Planner,
  context: ToolContext,
  kept: KeptChanges,
): Promise<ReadyChange> {
  const { plan } = context;
  const path = plannedPath(plan);
  const { after_sha256 } = (plan?.facts ?? {}) as { after_sha256?: string };
  const known = kept.get(keyOf(context));
  kept.delete(keyOf(context));
  // The commit compares the file with the pre-image; this compares the plan with what was judged.
  if (known !== undefined && isJudged(known, plan, after_sha256)) return known;
  const before = await readWholeFile(path, { maxBytes: MAX_FILE_BYTES });
  const change = readyChange(planner, path, before, context.roots);
  if (!isJudged(change, plan, after_sha256)) throw changed(path);
  return change;
}

function readyChange(
  planner: Planner,
  path: string,
  before: WholeFile | undefined,
  roots: Roots,
): ReadyChange {
  const name = nameOf(path, roots);
  const change = planner(before, { path, name });
  return { ...change, path, name, before, after_sha256: sha256Of(change.after) };
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

function plannedPath(plan: PreparedPlan | undefined): string {
  const [target] = plan?.resources ?? [];
  if (target?.kind !== "path") throw new Error("a change is carried out only as it was planned");
  return target.path;
}

/** As people write it: relative inside the project, absolute elsewhere. */
function nameOf(path: string, roots: Roots): string {
  const name = relative(roots.project, path);
  return name === "" || name === ".." || name.startsWith("../") ? path : name;
}

function changed(path: string): ToolFailure {
  return new ToolFailure({
    code: "changed_since_approval",
    message: `${path} is not as it was when this change was planned; nothing was written. Read it again and repeat the change.`,
    retryable: true,
    recovery: "retry",
  });
}
