// Sessions as a whole: `soong sessions` lists them, `sessions rm` removes some (ART-4), `verify` checks that they are as
// they were recorded (EVENT-6).

import type { Store, Tombstone, Verification } from "@soong/store";
import {
  EXIT,
  fit,
  measureWidth,
  UsageError,
  visibleLine,
  type Colours,
  type Output,
} from "../../output/index.ts";
import type { CommandContext, Handler } from "../handler.ts";
import {
  iterateSessions,
  readSessionPages,
  refuseNothingStored,
  resolveProjectPath,
  resolveSession,
  shortenSessionIds,
  withReadOnlyStore,
  withStore,
} from "../stored.ts";
import {
  describeSummary,
  summarizeSessions,
  type SessionStatus,
  type SessionSummary,
} from "./session-summary.ts";

const NO_SESSIONS = "No sessions are kept yet; `soong call` makes one.";
const DEFAULT_LIMIT = 20;

/** With --json all of them, unless --limit says otherwise. */
export const listSessions: Handler<"sessions"> = async (
  context,
  _given,
  { all = false, limit },
) => {
  const { output, json, print, cwd } = context;
  const most = parseLimit(limit) ?? (json ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT);
  const project = all ? undefined : await resolveProjectPath(cwd);
  await withReadOnlyStore<void>(
    context,
    () => output.note(NO_SESSIONS),
    async (store) => {
      let count = 0;
      for await (const page of readSessionPages(store, { project })) {
        const wanted = page.slice(0, most - count);
        const ids = wanted.map(({ session_id }) => session_id);
        const shown = json ? ids : await shortenSessionIds(store, ids);
        for (const [at, summary] of (await summarizeSessions(store, wanted)).entries()) {
          print(summary, () => renderSummary(output, shown[at] ?? "", summary, all));
        }
        count += wanted.length;
        await output.drained();
        if (output.isClosed || count >= most) break;
      }
      if (!json) await noteOthers(store, count);
    },
  );

  async function noteOthers(store: Store, count: number): Promise<void> {
    const here = await store.countSessions({ project });
    const others = project === undefined ? 0 : (await store.countSessions()) - here;
    if (here > count) output.note(`${here - count} more; --limit ${here} lists them.`, "dim");
    if (here > 0) return;
    output.note(
      others === 0
        ? NO_SESSIONS
        : `No sessions of ${visibleLine(project ?? "")} are kept yet; --all lists ${others} of other projects.`,
    );
  }
};

function parseLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = Number(text);
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new UsageError(`--limit takes a number from 1 on, not ${visibleLine(text)}.`);
}

function renderSummary(
  { colours, width }: Output,
  id: string,
  summary: SessionSummary,
  showsProject: boolean,
): string[] {
  const { bold, dim } = colours;
  const { title = "(no title)", project, status } = summary;
  const [state, ...about] = describeSummary(summary, Date.now());
  const name = `${visibleLine(id)}  `;
  const indent = " ".repeat(4);
  const rest = fit(` · ${about.join(" · ")}`, width - indent.length - state.length);
  return [
    `${bold(name)}${fit(visibleLine(title), width - measureWidth(name))}`,
    `${indent}${colours[STATUS_COLOURS[status]](state)}${dim(rest)}`,
    ...(showsProject && project !== undefined
      ? [dim(`${indent}${fit(visibleLine(project), width - indent.length)}`)]
      : []),
  ];
}

const STATUS_COLOURS = {
  running: "cyan",
  waiting_for_approval: "yellow",
  interrupted: "yellow",
  done: "green",
  failed: "red",
  empty: "dim",
  damaged: "red",
} as const satisfies Record<SessionStatus, keyof Colours>;

export const removeSessions: Handler<"sessions rm"> = async (
  context,
  { id: ids },
  { olderThan, keepBytes },
) => {
  if (ids.length === 0 && olderThan === undefined && keepBytes === undefined) {
    throw new UsageError(
      "Say which sessions to remove: their ids, --older-than 90d, or --keep-bytes N. `soong sessions` lists them.",
    );
  }
  const retention = {
    ...(olderThan === undefined ? {} : { max_age_days: parseDays(olderThan) }),
    ...(keepBytes === undefined ? {} : { max_bytes: parseBytes(keepBytes) }),
  };
  const isStored = await withReadOnlyStore(
    context,
    () => false,
    () => Promise.resolve(true),
  );
  if (!isStored && ids.length > 0) refuseNothingStored(`session ${ids.join(", ")}`);
  if (!isStored) return;
  const { output, json, print } = context;
  const printRemoved = (tombstone: Tombstone): void =>
    print(tombstone, () => `removed ${visibleLine(tombstone.session_id)}`);
  await withStore(context, async (store) => {
    const given = await Promise.all(ids.map((id) => resolveSession(context, store, id)));
    for (const id of new Set(given.map(({ session_id }) => session_id))) {
      printRemoved(await store.removeSession(id, "soong sessions rm"));
    }
    if (Object.keys(retention).length === 0) return;
    const { removed, held, bytes } = await store.applyRetention(retention);
    removed.forEach(printRemoved);
    for (const id of held) {
      output.note(`Session ${visibleLine(id)} should go and is in use; it stays.`);
    }
    if (!json) output.line(`${removed.length} removed; the rest takes ${bytes} bytes.`);
  });
};

const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7 };

function parseDays(text: string): number {
  const [, count, unit = ""] = /^(\d+(?:\.\d+)?)([hdw])$/.exec(text) ?? [];
  const days = DAYS[unit];
  if (count !== undefined && days !== undefined) return Number(count) * days;
  throw new UsageError(
    `--older-than takes a number of hours, days or weeks, such as 12h, 90d or 4w; not ${visibleLine(text)}.`,
  );
}

function parseBytes(text: string): number {
  const bytes = /^\d+(e\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new UsageError(
    `--keep-bytes takes a number of bytes, such as 5000000000 or 5e9; not ${visibleLine(text)}.`,
  );
}

export const verifySessions: Handler<"verify"> = async (
  context,
  { session: ids },
  { all = false, artifacts = false, head, rebuild = false },
) => {
  if (head !== undefined && ids.length !== 1) {
    throw new UsageError("--head is the hash of one session: give that SESSION with it.");
  }
  if (all && ids.length > 0) {
    throw new UsageError("--all verifies every session: give it without a SESSION.");
  }
  const { output, print } = context;
  const noneStored = (): number => {
    if (ids.length > 0) refuseNothingStored(`session ${ids.join(", ")}`);
    output.note("No sessions are kept yet; there is nothing to verify.");
    return EXIT.ok;
  };
  return withReadOnlyStore<number>(context, noneStored, async (store) => {
    let exitCode: number = EXIT.ok;
    for await (const id of all ? iterateAllIds(store) : resolveIds(context, store, ids)) {
      let verified = await store.verify(id, { artifacts, head });
      if (rebuild && !verified.ok && verified.problem.kind === "derived") {
        await withStore(context, (writing) => writing.rebuildSession(id));
        output.note(`Session ${visibleLine(id)}: made anew from its facts what follows from them.`);
        verified = await store.verify(id, { artifacts, head });
      }
      print({ session_id: id, ...verified }, () => renderVerified(id, verified, output.colours));
      if (!verified.ok) exitCode = EXIT.failed;
    }
    return exitCode;
  });
};

/** A removed one by its whole id. */
async function* resolveIds(
  context: CommandContext,
  store: Store,
  given: readonly string[],
): AsyncGenerator<string> {
  const removed = new Set((await store.tombstones()).map(({ session_id }) => session_id));
  for (const id of given.length > 0 ? given : [undefined]) {
    if (id !== undefined && removed.has(id)) yield id;
    else yield (await resolveSession(context, store, id)).session_id;
  }
}

/** Also the removed ones: what is left of them can still be checked. */
async function* iterateAllIds(store: Store): AsyncGenerator<string> {
  for await (const { session_id } of iterateSessions(store)) yield session_id;
  for (const { session_id } of await store.tombstones()) yield session_id;
}

function renderVerified(
  id: string,
  verified: Verification,
  { green, red, dim }: Colours,
): string[] {
  const name = visibleLine(id);
  if (verified.ok) {
    const at = verified.removed === undefined ? "" : `, removed ${verified.removed.removed_at}`;
    return [
      `${green("ok")}    ${name}: ${verified.facts} facts${at}`,
      dim(`      head ${verified.head_hash}`),
    ];
  }
  const { seq, kind, message } = verified.problem;
  const line = `${red("fail")}  ${name}: fact ${seq} (${kind}): ${visibleLine(message)}`;
  const hint = dim(`      \`soong verify --rebuild ${name}\` makes it anew from the facts.`);
  return kind === "derived" ? [line, hint] : [line];
}
