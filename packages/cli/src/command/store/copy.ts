// `soong store copy`: copies sessions from one store to another, one after the other, each completely or not at all.

import { createRedactor } from "@soong/core";
import {
  copySession,
  copyTombstones,
  openStore,
  StoreError,
  type CopyProgress,
  type SessionCopy,
  type Store,
} from "@soong/store";
import { CommandError, EXIT, UsageError, visibleLine } from "../../output/index.ts";
import { loadConfig } from "../../config/index.ts";
import { collectSecrets } from "../../runtime/secrets.ts";
import { resolveHome } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { onTermination, withInterrupt } from "../signals.ts";
import { iterateSessions, resolveSession } from "../stored.ts";
import { readNamedStore, type NamedStore } from "./named-store.ts";
import { formatBytes } from "./store.ts";

export const copyStore: Handler<"store copy"> = async (context, given, { session: only = [] }) => {
  const from = await readNamedStore(context, given.from, "FROM");
  const to = await readNamedStore(context, given.to, "TO");
  await hideSecrets(context, [from, to]);
  if (from.identity === to.identity) {
    throw new UsageError("FROM and TO are the same store. Name another one to copy to.");
  }
  if (!from.isThere) {
    throw new CommandError(`There is no store in ${from.label}. Name the home directory of one.`);
  }
  return withStop(context, async (stop) => {
    const source = await openSource(from);
    try {
      const ids = await listIds(context, source, only);
      const target = await openStore(to.options);
      try {
        return await copyAll({ context, source, target, to, ids, isAll: only.length === 0, stop });
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  });
};

interface Stop {
  readonly signal: AbortSignal;
  readonly exitCode: () => number;
}

/** Ctrl-C and signals that end the process abort the current copy. */
function withStop<T>(context: CommandContext, work: (stop: Stop) => Promise<T>): Promise<T> {
  return withInterrupt(context, async (interrupted) => {
    const ended = new AbortController();
    let exitCode: number = EXIT.interrupted;
    const stopListening = onTermination((code) => {
      exitCode = code;
      ended.abort();
    });
    try {
      return await work({
        signal: AbortSignal.any([interrupted, ended.signal]),
        exitCode: () => exitCode,
      });
    } finally {
      stopListening();
    }
  });
}

async function hideSecrets(context: CommandContext, stores: readonly NamedStore[]): Promise<void> {
  const config = await loadConfig({ home: resolveHome(context) }).catch(() => ({
    home: resolveHome(context),
  }));
  const known = await collectSecrets(config, context.env);
  const secrets = [...known, ...stores.flatMap((store) => store.secrets)];
  context.output.hide(createRedactor({ secrets }));
}

/** Opens for writing if possible: the tables of a home may have an older version, and readers do not migrate. */
async function openSource({ options }: NamedStore): Promise<Store> {
  if (options.url !== undefined) return openStore({ ...options, readOnly: true });
  try {
    return await openStore(options);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "store_read_only") throw error;
    return openStore({ ...options, readOnly: true });
  }
}

/** Without `only`, all sessions, the last used one last. */
async function listIds(
  context: CommandContext,
  source: Store,
  only: readonly string[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const one of only) ids.push((await resolveSession(context, source, one)).session_id);
  if (only.length === 0) {
    for await (const { session_id } of iterateSessions(source)) ids.push(session_id);
    ids.reverse();
  }
  return [...new Set(ids)];
}

interface Copying {
  readonly context: CommandContext;
  readonly source: Store;
  readonly target: Store;
  readonly to: NamedStore;
  readonly ids: readonly string[];
  readonly isAll: boolean;
  readonly stop: Stop;
}

async function copyAll(copying: Copying): Promise<number> {
  const { context, source, target, to, ids, isAll, stop } = copying;
  const { output } = context;
  const counts = { copied: 0, already_there: 0, removed_there: 0, refused: 0 };
  for (const [index, session_id] of ids.entries()) {
    if (stop.signal.aborted) break;
    output.note(`${index + 1} of ${ids.length}: ${visibleLine(session_id)}`, "dim");
    const result = await copyOne(copying, session_id);
    if (result === undefined) break;
    counts[result.state] += 1;
    context.print(result, () => describeResult(result));
    if (result.state === "copied") await writeFolders(target, to, session_id);
  }
  if (!stop.signal.aborted && isAll) await copyTombstones(source, target);
  const removed = counts.removed_there === 0 ? "" : ` ${counts.removed_there} removed there,`;
  output.note(
    `${counts.copied} copied to ${to.label}, ${counts.already_there} already there,${removed} ${counts.refused} refused.`,
  );
  if (stop.signal.aborted) return stop.exitCode();
  return counts.refused === 0 ? EXIT.ok : EXIT.failed;
}

type Result =
  | SessionCopy
  | { readonly session_id: string; readonly state: "refused"; readonly reason: string };

/** Errors that concern one session only: the next one may be copied. */
const REFUSALS: ReadonlySet<string> = new Set([
  "session_in_use",
  "session_exists",
  "session_removed",
  "session_unknown",
  "store_corrupted",
]);

/** Returns undefined if the copy was aborted. */
async function copyOne(
  { context, source, target, stop }: Copying,
  session_id: string,
): Promise<Result | undefined> {
  const { signal } = stop;
  try {
    const onProgress = noteProgress(context);
    return await copySession(source, target, session_id, { signal, onProgress });
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!(error instanceof StoreError) || !REFUSALS.has(error.code)) throw error;
    return { session_id, state: "refused", reason: error.message };
  }
}

const NOTE_EVERY_MS = 2000;

function noteProgress({ output }: CommandContext): (progress: CopyProgress) => void {
  let last = performance.now();
  return ({ facts, of_facts, artifacts, of_artifacts }) => {
    if (performance.now() - last < NOTE_EVERY_MS) return;
    last = performance.now();
    output.note(
      `  ${facts} of ${of_facts} facts, ${artifacts} of ${of_artifacts} artifacts`,
      "dim",
    );
  };
}

function describeResult(result: Result): string {
  const id = visibleLine(result.session_id);
  if (result.state === "refused") return `refused  ${id}: ${visibleLine(result.reason)}`;
  if (result.state === "already_there") return `there    ${id}`;
  if (result.state === "removed_there") return `removed  ${id}: it was there, and was removed`;
  const { facts, artifacts, bytes } = result;
  const many = artifacts === 1 ? "1 artifact" : `${artifacts} artifacts`;
  return `copied   ${id}  ${facts} facts, ${many}, ${formatBytes(bytes)}, verified`;
}

/** Writes the readable folders of the runs. They are made from facts and can be made again later, so errors are ignored. */
async function writeFolders(target: Store, { options }: NamedStore, session_id: string) {
  if (options.url !== undefined) return;
  const reader = await target.readSession(session_id);
  for (const { run_id } of await reader.runs()) {
    await target.rebuildRunFolder(run_id).catch(() => {});
  }
}
