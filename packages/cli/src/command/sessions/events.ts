// `soong events`: the facts of a run, each as a sentence, or with --json as it is in the journal; with --follow until it ends, or no one is
// there any more who could end it (CLI-4).

import { setTimeout } from "node:timers/promises";
import { describeUsage } from "@soong/agent";
import { loadFactTexts } from "../facts.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { describeRun, readFactPages, resolveRun, withReadOnlyStore, withStore } from "../stored.ts";
import { createFactSentences } from "./fact-sentences.ts";
import { sumRunUsage } from "./stored-usage.ts";

const LOOK_AGAIN_MS = 100;
const LOOKS_UNTIL_DOUBT = 20;

export const printEvents: Handler<"events"> = async (
  context,
  { run: given },
  { follow = false },
) => {
  const { output, json, print } = context;
  const renderFact = createFactSentences(output, await loadFactTexts());
  await withReadOnlyStore(context, describeRun(given), async (store) => {
    const { session_id, run_id } = await resolveRun(context, store, given);
    const reader = await store.readSession(session_id);
    let seen = 0;
    await printMore();
    if (follow) await printToTheEnd();
    const used = describeUsage(await sumRunUsage(store, reader, run_id));
    if (!json && used !== "") output.note(used, "dim");

    async function printMore(): Promise<void> {
      for await (const page of readFactPages(reader, { run_id, after: seen })) {
        for (const fact of page) print(fact, () => renderFact(fact));
        seen = page.at(-1)?.seq ?? seen;
        await output.drained();
        if (output.isClosed) return;
      }
    }

    async function printToTheEnd(): Promise<void> {
      let idleLooks = 0;
      while (!output.isClosed && !(await hasEnded())) {
        // Another process writes, and cannot notify us.
        await setTimeout(LOOK_AGAIN_MS);
        const before = seen;
        await printMore();
        idleLooks = seen === before ? idleLooks + 1 : 0;
        if (idleLooks < LOOKS_UNTIL_DOUBT) continue;
        idleLooks = 0;
        if (!(await closeAbandonedSession(context, session_id))) continue;
        await printMore();
        output.note("The process that worked on this run is gone; what it left open was closed.");
        return;
      }
    }

    /** Ended, and everything of it was shown. */
    async function hasEnded(): Promise<boolean> {
      const { status, last_seq } = await resolveRun(context, store, run_id);
      return status !== "queued" && status !== "running" && last_seq <= seen;
    }
  });
};

/**
 * Whether no one works on the session any more. Then it was opened, which closes what a crash left open
 * (STORE-3), as the next process to continue it would.
 */
async function closeAbandonedSession(
  context: CommandContext,
  session_id: string,
): Promise<boolean> {
  try {
    await withStore(context, async (store) => (await store.openSession(session_id)).close());
    return true;
  } catch {
    // It is in use, or this home may only be read: there is nothing to do but to look on.
    return false;
  }
}
