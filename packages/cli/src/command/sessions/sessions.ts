// `soong sessions`: what is kept, last used first.

import { describeUsage, type UsageTotal } from "@soong/agent";
import type { SessionRecord, Store, StoreError } from "@soong/store";
import { EXIT, fit, visibleLine, type Output } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { sumSessionUsage } from "./stored-usage.ts";
import { withReadOnlyStore } from "../stored.ts";
import { JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "sessions",
  summary: "list the stored sessions, last used first",
  options: [JSON_OPTION],
  examples: ["soong sessions", "soong sessions rm --older-than 90d"],
  subcommands: { rm: () => import("./rm.ts"), search: () => import("./search.ts") },
  run: listSessions,
};

const PAGE = 200;

async function listSessions(
  context: CommandContext,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output } = context;
  return withReadOnlyStore(
    context,
    async (store) => {
      let count = 0;
      for await (const record of iterateSessions(store)) {
        if (output.isClosed) return EXIT.ok;
        const usage = await usageIfThere(store, record.session_id);
        if (usage === undefined) continue;
        if (json) output.record("soong.sessions/1", { ...record, usage });
        else showSession(output, record, describeUsage(usage));
        count += 1;
        if (count % PAGE === 0) await output.drained();
      }
      if (count === 0) noteNoSessions(output);
      return EXIT.ok;
    },
    () => {
      noteNoSessions(output);
      return EXIT.ok;
    },
  );
}

/** Undefined when it was removed since it was listed. */
async function usageIfThere(store: Store, session_id: string): Promise<UsageTotal | undefined> {
  try {
    return await sumSessionUsage(await store.readSession(session_id));
  } catch (error) {
    const { code } = error as Partial<StoreError>;
    if (code === "session_unknown" || code === "session_removed") return undefined;
    throw error;
  }
}

/** Last used first, page by page. */
export async function* iterateSessions(store: Store): AsyncGenerator<SessionRecord> {
  let after: SessionRecord | undefined;
  for (;;) {
    const page = await store.sessions({ limit: PAGE, after });
    yield* page;
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}

function showSession(output: Output, record: SessionRecord, used: string): void {
  const { bold, dim } = output.colours;
  const { session_id, updated_at, last_seq, title = "", project = "" } = record;
  output.line(`${bold(visibleLine(session_id))}  ${updated_at}  ${last_seq} facts`);
  const about = [title, project].filter((text) => text !== "").map(visibleLine);
  for (const text of [about.join("  "), used]) {
    if (text !== "") output.line(dim(`    ${fit(text, output.width - 4)}`));
  }
}

function noteNoSessions(output: Output): void {
  output.note("No sessions are kept yet; `soong call` makes one.");
}
