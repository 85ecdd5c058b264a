// `soong undo`: puts a file back as it was before a call, if it still is as that call left it; shown before, and on
// record after (CODE-6).

import { createKernel, type ArtifactStore, type Session } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import type { SessionReader, Store, StoreError } from "@soong/store";
import { resolvePath, undoChange, undoDiff } from "@soong/tools";
import { renderDiff, CommandError, EXIT, UsageError, visibleLine } from "../../output/index.ts";
import { withRuntime } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { ambiguousId, filterById, type IdSubject } from "../match-id.ts";
import { resolveSession, withReadOnlyStore, withStore } from "../stored.ts";
import { createTerminalQuestions } from "../terminal-questions.ts";
import {
  findStoredChanges,
  findLastChange,
  compareWithDisk,
  type StoredChange,
} from "./stored-changes.ts";

export const undoCall: Handler<"undo"> = async (context, { call }, { yes = false, session }) => {
  const missing = call === undefined ? "change to take back" : `call ${call}`;
  return withReadOnlyStore<number | void>(context, missing, async (store) => {
    const change = await findChange(context, store, call, session);
    await refuseChangedFile(change);
    if (!yes && !(await confirmUndo(context, change))) return EXIT.denied;
    const { session_id, tool_call_id } = change;
    const undone = await withStore(context, (writing) => revertChange(change, writing));
    context.print({ session_id, tool_call_id, ...undone }, () => describeRestored(undone));
    return EXIT.ok;
  });
};

type Restored = Awaited<ReturnType<typeof undoChange>>;

/** On record in the session of the call; `held`: that session, where this process has it open. */
export async function revertChange(
  change: StoredChange,
  store: Store,
  held?: Session,
): Promise<Restored> {
  const { undo, reader, tool_call_id, tool_name, run_id } = change;
  const kept = held === undefined ? await openToRecord(store, change) : undefined;
  const session = held ?? (await createKernel().openSession(kept));
  try {
    const restored = await undoChange(undo, { artifacts: readOnlyArtifacts(reader) });
    const about = { ...restored, of_run: run_id };
    session.recorder.record("change.undone", about, { tool_call_id, tool_name });
    await session.recorder.flush();
    return restored;
  } finally {
    if (kept !== undefined) {
      await session.close();
      await kept.close();
    }
  }
}

/** Without tools and hooks: one fact is recorded, and nothing starts. */
async function openToRecord(store: Store, { session_id, undo }: StoredChange) {
  return store.openSession(session_id).catch((error: unknown) => {
    if ((error as Partial<StoreError>).code !== "session_in_use") throw error;
    throw new CommandError(
      `Session ${visibleLine(session_id)} is in use, so that ${visibleLine(undo.path)} was left as it is: take it back there with /undo, or end that first.`,
    );
  });
}

/** What it would do to the file; undefined where that is not known. */
export function renderUndoDiff({ undo, reader }: StoredChange): Promise<string | undefined> {
  return undoDiff(undo, { artifacts: readOnlyArtifacts(reader) });
}

export function describeRestored({ path, restored }: Restored): string {
  return `${restored === "removed" ? "Removed" : "Put back"} ${visibleLine(path)}.`;
}

/** The call that was named; or the last change in this project that has not been taken back yet. */
export async function findChange(
  { cwd }: Pick<CommandContext, "cwd">,
  store: Store,
  call?: string,
  session?: string,
): Promise<StoredChange> {
  const project = await resolvePath("/", cwd);
  // Where a session began says nothing about where its calls wrote.
  const isWanted = (path: string): boolean =>
    call !== undefined || session !== undefined || isWithin(project, path);
  const of =
    session === undefined
      ? {}
      : { session: (await resolveSession({ cwd }, store, session)).session_id };
  const changes = findStoredChanges(store, { ...of, call }, isWanted);
  if (call !== undefined) return findNamedChange(changes, call);
  const last = await findLastChange(changes);
  if (last !== undefined) return last;
  if (session !== undefined) {
    throw new CommandError(
      "No change of a file by this session is left to undo; `soong undo` finds those of other sessions.",
    );
  }
  throw new CommandError(
    `No change of a file in ${visibleLine(project)} is left to undo. Name the CALL to undo one that is elsewhere.`,
  );
}

/** Ids that a model chose may be in more than one session. */
async function findNamedChange(
  changes: AsyncIterable<StoredChange>,
  call: string,
): Promise<StoredChange> {
  const named: StoredChange[] = [];
  for await (const change of changes) named.push(change);
  const found = filterById(call, named, CALL);
  const [first] = found;
  if (first === undefined) {
    throw new CommandError(
      `No change of a file by a call ${visibleLine(call)} is kept; \`soong events\` shows the calls of a run.`,
    );
  }
  if (found.some(({ tool_call_id }) => tool_call_id !== first.tool_call_id)) {
    throw ambiguousId(call, found, CALL);
  }
  if (found.some(({ session_id }) => session_id !== first.session_id)) {
    throw new UsageError(
      `More than one session has a call ${visibleLine(first.tool_call_id)}: say which with --session, such as --session ${visibleLine(first.session_id)}.`,
    );
  }
  return first;
}

const CALL: Omit<IdSubject<StoredChange>, "hint"> = {
  kind: "call",
  id: ({ tool_call_id }) => tool_call_id,
  describe: ({ tool_name, undo }) => `${visibleLine(tool_name)} ${visibleLine(undo.path)}`,
};

export async function refuseChangedFile(change: StoredChange): Promise<void> {
  const state = await compareWithDisk(change);
  if (state === "as_left") return;
  const path = visibleLine(change.undo.path);
  const call = visibleLine(change.tool_call_id);
  throw new CommandError(
    state === "as_before"
      ? `${path} is as it was before call ${call} already.`
      : `${path} has changed since call ${call}; nothing was restored. Name an earlier CALL, or fix it by hand.`,
  );
}

const MOST_LINES = 200;

async function confirmUndo(context: CommandContext, change: StoredChange): Promise<boolean> {
  const { output, isInteractive, stdin } = context;
  const { undo, tool_call_id } = change;
  const isShown = isInteractive || (await mayBeRead(context, undo.path));
  const lines = ((isShown ? await renderUndoDiff(change) : undefined) ?? "").trimEnd().split("\n");
  if (lines.join("") !== "") {
    output.note(renderDiff(lines.slice(0, MOST_LINES).join("\n"), output.noteColours));
  }
  if (lines.length > MOST_LINES) {
    output.note(`… ${lines.length - MOST_LINES} more lines`, "dim");
  }
  if (isInteractive) return createTerminalQuestions(stdin, output).confirm(describeUndo(change));
  const hidden = isShown ? "" : " (what is in it is not shown: reading it needs permission)";
  output.note(
    `${visibleLine(undo.path)} would be changed${hidden}, and no one can be asked here; add --yes to undo call ${visibleLine(tool_call_id)}.`,
  );
  return false;
}

/** Output that no one sees at a terminal goes anywhere: what a run would have to ask about is not in it (PIPE-9). */
function mayBeRead(context: CommandContext, path: string): Promise<boolean> {
  return withRuntime(context, {}, { servers: "none", note() {} }, async (runtime) => {
    const run = await (await runtime.openEphemeralSession()).startRun();
    const call = { name: "code.read_file", arguments: JSON.stringify({ path }) };
    const explained = await run.explain(call);
    return explained.outcome === "allow" && explained.hooks.length === 0;
  });
}

export function describeUndo({ undo, tool_name, tool_call_id }: StoredChange): string {
  const path = visibleLine(undo.path);
  const by = `${visibleLine(tool_name)} (${visibleLine(tool_call_id)})`;
  return undo.pre_image === null
    ? `Remove ${path}, which ${by} made?`
    : `Put ${path} back as it was before ${by}?`;
}

/** What is stored is only read. */
function readOnlyArtifacts(reader: SessionReader): ArtifactStore {
  const refuse = (): never => {
    throw new Error("nothing is kept while a change is taken back");
  };
  return {
    write: refuse,
    open: refuse,
    read: (artifact_id, range) => reader.readArtifact(artifact_id, range),
    stat: async (artifact_id) =>
      (await reader.artifacts()).find((record) => record.artifact_id === artifact_id),
  };
}
