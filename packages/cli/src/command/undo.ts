// `soong undo`: puts a file back as it was before a call, if it still is as that call left it (CODE-6).

import type { ArtifactStore } from "@soong/core";
import type { SessionReader, Store } from "@soong/store";
import { resolvePath, undoChange } from "@soong/tools";
import { CommandError, EXIT, UsageError, visibleLine } from "../output/index.ts";
import type { CommandContext } from "./context.ts";
import { keptChanges, lastChange, stateOf, type KeptChange } from "./kept-changes.ts";
import { nothingKept, readingStore } from "./kept.ts";
import { terminalQuestions } from "./question.ts";

export interface UndoOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly session?: string;
}

export async function undoCommand(
  context: CommandContext,
  call: string | undefined,
  { json = false, yes = false, session }: UndoOptions,
): Promise<number> {
  return readingStore(
    context,
    async (store) => {
      const change = await findChange(context, store, call, session);
      await refuseOther(change);
      if (!yes && !(await agreed(context, change))) return EXIT.denied;
      const { session_id, tool_call_id, undo, reader } = change;
      const { path, restored } = await undoChange(undo, { artifacts: readOnlyArtifacts(reader) });
      if (json) {
        context.output.record("soong.undo/1", { session_id, tool_call_id, path, restored });
      } else {
        const what = restored === "removed" ? "Removed" : "Put back";
        context.output.line(`${what} ${visibleLine(path)}.`);
      }
      return EXIT.ok;
    },
    () => nothingKept(call === undefined ? "change to take back" : `call ${call}`),
  );
}

/** The call that was named; or the last change in this project that has not been taken back yet. */
async function findChange(
  { cwd }: CommandContext,
  store: Store,
  call: string | undefined,
  session: string | undefined,
): Promise<KeptChange> {
  const project = await resolvePath("/", cwd);
  const changes = keptChanges(store, {
    ofSession: (record) =>
      session === undefined
        ? call !== undefined || record.project === project
        : record.session_id === session,
    ofCall: (id) => call === undefined || id === call,
  });
  if (call !== undefined) return namedChange(changes, call);
  const last = await lastChange(changes);
  if (last !== undefined) return last;
  throw new CommandError("No change of a file in this project is left to take back.");
}

/** Ids that a model chose may be in more than one session. */
async function namedChange(changes: AsyncIterable<KeptChange>, call: string): Promise<KeptChange> {
  let found: KeptChange | undefined;
  for await (const change of changes) {
    if (found !== undefined && found.session_id !== change.session_id) {
      throw new UsageError(
        `More than one session has a call ${visibleLine(call)}: say which with --session, such as --session ${visibleLine(found.session_id)}.`,
      );
    }
    found ??= change;
  }
  if (found !== undefined) return found;
  throw new CommandError(
    `No change of a file by a call ${visibleLine(call)} is kept; \`soong events RUN\` shows the calls of a run.`,
  );
}

async function refuseOther(change: KeptChange): Promise<void> {
  const state = await stateOf(change);
  if (state === "as_left") return;
  const { tool_call_id, undo } = change;
  const path = visibleLine(undo.path);
  throw new CommandError(
    state === "as_before"
      ? `${path} is as it was before call ${visibleLine(tool_call_id)} already.`
      : `${path} has changed since call ${visibleLine(tool_call_id)}; nothing was put back. Name an earlier CALL, or mend it by hand.`,
  );
}

async function agreed(context: CommandContext, change: KeptChange): Promise<boolean> {
  const { undo, tool_name, tool_call_id } = change;
  const path = visibleLine(undo.path);
  if (!context.isInteractive) {
    context.output.note(
      `${path} would be changed, and nobody can be asked here; add --yes to take back call ${visibleLine(tool_call_id)}.`,
    );
    return false;
  }
  const questions = terminalQuestions(context.stdin, context.output);
  const by = `${visibleLine(tool_name)} (${visibleLine(tool_call_id)})`;
  return questions.confirm(
    undo.pre_image === null
      ? `Remove ${path}, which ${by} made?`
      : `Put ${path} back as it was before ${by}?`,
  );
}

/** Taking back only reads what is kept: the session may be in use meanwhile. */
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
