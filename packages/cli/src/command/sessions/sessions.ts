// Sessions as a whole: `soong sessions` lists them, `sessions rm` removes some (ART-4), `verify` checks that they are as
// they were recorded (EVENT-6), `rewind` lets one continue from an earlier node (STORE-2, CLI-7).

import { describeUsage, sumUsage } from "@soong/agent";
import { createKernel } from "@soong/core";
import type { Store, Tombstone, Verification } from "@soong/store";
import { EXIT, fit, UsageError, visibleLine, type Colours } from "../../output/index.ts";
import type { CommandContext, Handler } from "../handler.ts";
import {
  iterateSessions,
  readSessionPages,
  refuseNothingStored,
  resolveSession,
  withReadOnlyStore,
  withStore,
} from "../stored.ts";
import { sumSessionUsage } from "./stored-usage.ts";

const NO_SESSIONS = "No sessions are kept yet; `soong call` makes one.";

export const listSessions: Handler<"sessions"> = async (context) => {
  const { output, print } = context;
  const { bold, dim } = output.colours;
  await withReadOnlyStore<void>(context, noSessions, async (store) => {
    let count = 0;
    for await (const page of readSessionPages(store)) {
      if (output.isClosed) return;
      const ids = page.map(({ session_id }) => session_id);
      const usages = await sumSessionUsage(store, ids);
      for (const record of page) {
        const { session_id, updated_at, last_seq, title = "", project = "" } = record;
        const usage = usages.get(session_id) ?? sumUsage([]);
        print({ ...record, usage }, () => {
          const about = [title, project].filter((text) => text !== "").map(visibleLine);
          const details = [about.join("  "), describeUsage(usage)].filter((text) => text !== "");
          return [
            `${bold(visibleLine(session_id))}  ${updated_at}  ${last_seq} facts`,
            ...details.map((text) => dim(`    ${fit(text, output.width - 4)}`)),
          ];
        });
      }
      count += page.length;
      await output.drained();
    }
    if (count === 0) noSessions();
  });

  function noSessions(): void {
    output.note(NO_SESSIONS);
  }
};

export const removeSessions: Handler<"sessions rm"> = async (
  context,
  { id: ids },
  { olderThan, keepBytes },
) => {
  if (ids.length === 0 && olderThan === undefined && keepBytes === undefined) {
    throw new UsageError(
      "Say which sessions go: their ids, --older-than 90d, or --keep-bytes N. `soong sessions` lists them.",
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

export const rewindSession: Handler<"rewind"> = async (
  context,
  { session: session_id, node: node_id },
) => {
  await withReadOnlyStore(context, `session ${session_id}`, (store) =>
    store.readSession(session_id),
  );
  await withStore(context, async (store) => {
    const kept = await store.openSession(session_id);
    // Without tools and hooks: this records one fact and starts nothing.
    const session = await createKernel().openSession(kept);
    try {
      await kept.rewind(session.recorder, node_id);
    } finally {
      await session.close();
      await kept.close();
    }
  });
  context.output.line(
    `Session ${visibleLine(session_id)} continues from ${visibleLine(node_id)}; what came after it stays as another branch.`,
  );
};
