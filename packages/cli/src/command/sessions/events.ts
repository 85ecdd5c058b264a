// `soong events`: the facts of a run, each as a sentence, with --json as it is in the journal, or with --format as records of that
// format; with --follow until it ends, or no one is there any more who could end it (CLI-4).

import { describeUsage } from "@soong/agent";
import type { Fact } from "@soong/core";
import type { Projection } from "@soong/export";
import { loadFactTexts } from "../facts.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { describeRun, resolveRun, withReadOnlyStore, withStore } from "../stored.ts";
import { awaitFacts } from "./await-facts.ts";
import { createFactSentences } from "./fact-sentences.ts";
import {
  createRecordReader,
  findLiveRuns,
  NATIVE,
  noteGap,
  openProjection,
  readFormat,
  type FormatOptions,
} from "./project-facts.ts";
import { sumRunUsage } from "./stored-usage.ts";

export const printEvents: Handler<"events"> = async (context, { run: given }, options) => {
  const { output, json } = context;
  readFormat(options);
  const hasFormat = options.format !== undefined;
  const { projection, print } = await openPrinter(context, options);
  await withReadOnlyStore(context, describeRun(given), async (store) => {
    const { session_id, run_id, last_seq, parent_run_id } = await resolveRun(context, store, given);
    // The name and the parent of a child's span are in a fact of the run that started it.
    if (options.format === "otlp" && parent_run_id !== undefined) {
      for (const fact of await store.factsOfTypes([session_id], ["agent.child.created"])) {
        const isOfRun = fact.type === "agent.child.created" && fact.data.child_run_id === run_id;
        if (isOfRun) projection.push(fact);
      }
    }
    // Of a worker on another machine: what its session is for.
    if (parent_run_id !== undefined) {
      for (const fact of await store.factsOfTypes([session_id], ["session.created"])) {
        if ("dispatched_by" in fact.data) for (const one of projection.push(fact)) print(one);
      }
    }
    const reader = await store.readSession(session_id);
    const records = createRecordReader(reader, projection, { run_id, last_seq });
    await printMore();
    const isAbandoned = options.follow === true && (await printToTheEnd());
    if (output.isClosed) return;
    noteGap(output, records, session_id);
    if (isAbandoned || !(await isStillLive())) {
      for (const record of projection.end()) print(record);
      await output.drained();
    } else if (hasFormat) {
      output.note("This run has not ended; `--follow` continues until it does.", "dim");
    }
    if (hasFormat || json) return;
    const used = describeUsage(await sumRunUsage(store, reader, run_id));
    if (used !== "") output.note(used, "dim");

    async function printMore(): Promise<void> {
      for await (const page of records.readMore()) {
        for (const record of page) print(record);
        await output.drained();
        if (output.isClosed) return;
      }
    }

    /** Whether it was abandoned. */
    async function printToTheEnd(): Promise<boolean> {
      const news = awaitFacts(store, session_id);
      try {
        while (!output.isClosed && !(await hasEnded())) {
          await news.next();
          const before = records.seen;
          await printMore();
          if (!news.isDoubtful(records.seen > before)) continue;
          if (!(await closeAbandonedSession(context, session_id))) continue;
          await printMore();
          output.note("The process that worked on this run is gone; what it left open was closed.");
          return true;
        }
        return false;
      } finally {
        news.close();
      }
    }

    /** Ended, and everything of it was shown. */
    async function hasEnded(): Promise<boolean> {
      const { status, last_seq } = await resolveRun(context, store, run_id);
      return status !== "queued" && status !== "running" && last_seq <= records.seen;
    }

    async function isStillLive(): Promise<boolean> {
      const run = await resolveRun(context, store, run_id);
      return (await findLiveRuns(store, session_id, [run])).length > 0;
    }
  });
};

interface Printer {
  readonly projection: Projection<object>;
  readonly print: (record: object) => void;
}

async function openPrinter(context: CommandContext, options: FormatOptions): Promise<Printer> {
  const { output, print } = context;
  const { format } = options;
  if (format !== undefined) {
    return {
      projection: await openProjection(format, { ...options, isLive: true }),
      print: (record) => output.json(record),
    };
  }
  const renderFact = createFactSentences(output, await loadFactTexts());
  return {
    projection: NATIVE,
    // What `NATIVE` passes on are facts.
    print: (fact) => print(fact, () => renderFact(fact as Fact)),
  };
}

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
