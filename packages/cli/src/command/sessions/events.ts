// `soong events`: the facts of a run, one a line, as they are in the journal; with --follow until it ends, or no one is
// there any more who could end it (CLI-4).

import { describeUsage } from "@soong/agent";
import { describeFact, type Fact, type FactTexts } from "@soong/core";
import type { SessionReader, Store } from "@soong/store";
import { EXIT, fit, lengthOf, pad, visibleLine, type Output } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { loadFactTexts } from "../facts.ts";
import { sumRunUsage } from "./stored-usage.ts";
import { findStoredRun } from "./stored-run.ts";
import { refuseNothingStored, withReadOnlyStore, withStore } from "../stored.ts";
import { argument, JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "events",
  summary: "print the facts of a run",
  arguments: [argument("<run>", "its id")],
  options: [JSON_OPTION, option("--follow", "continue until the run ends")],
  examples: ["soong events run_0abc", "soong events run_0abc --json --follow"],
  run: printEvents,
};

const PAGE = 500;
const LOOK_AGAIN_MS = 100;
const LOOKS_UNTIL_DOUBT = 20;

interface EventsOptions {
  readonly json?: boolean;
  readonly follow?: boolean;
}

async function printEvents(
  context: CommandContext,
  run_id: string,
  { json = false, follow = false }: EventsOptions,
): Promise<number> {
  const { output } = context;
  const texts = await loadFactTexts();
  const show = (fact: Fact): void =>
    json ? output.record("soong.events/1", fact) : showFact(output, fact, texts);
  return withReadOnlyStore(
    context,
    async (store) => {
      const { session_id } = await findStoredRun(store, run_id);
      const reader = await store.readSession(session_id);
      const showMore = (after: number): Promise<number> =>
        showFrom(reader, run_id, after, output, show);
      const seen = await showMore(0);
      if (follow) {
        const isOver = (last: number): Promise<boolean> => hasEnded(store, run_id, last);
        await showToTheEnd(context, session_id, { seen, showMore, isOver });
      }
      const used = describeUsage(await sumRunUsage(reader, run_id));
      if (!json && used !== "") output.note(output.noteColours.dim(used));
      return EXIT.ok;
    },
    () => refuseNothingStored(`run ${run_id}`),
  );
}

interface Following {
  readonly seen: number;
  readonly showMore: (after: number) => Promise<number>;
  readonly isOver: (seen: number) => Promise<boolean>;
}

async function showToTheEnd(
  context: CommandContext,
  session_id: string,
  { seen, showMore, isOver }: Following,
): Promise<void> {
  const { output } = context;
  let last = seen;
  let idleLooks = 0;
  while (!output.isClosed && !(await isOver(last))) {
    await pause();
    const next = await showMore(last);
    idleLooks = next === last ? idleLooks + 1 : 0;
    last = next;
    if (idleLooks < LOOKS_UNTIL_DOUBT) continue;
    idleLooks = 0;
    if (!(await closeWhatIsLeft(context, session_id))) continue;
    await showMore(last);
    output.note("The process that worked on this run is gone; what it left open was closed.");
    return;
  }
}

/** Everything there is after a fact; answers with the seq of the last one. */
async function showFrom(
  reader: SessionReader,
  run_id: string,
  after: number,
  output: Output,
  show: (fact: Fact) => void,
): Promise<number> {
  let seen = after;
  for (;;) {
    const facts = await reader.facts({ run_id, after: seen, limit: PAGE });
    for (const fact of facts) show(fact);
    seen = facts.at(-1)?.seq ?? seen;
    await output.drained();
    if (facts.length < PAGE || output.isClosed) return seen;
  }
}

/** Ended, and everything of it was shown. */
async function hasEnded(store: Store, run_id: string, seen: number): Promise<boolean> {
  const { status, last_seq } = await findStoredRun(store, run_id);
  return status !== "queued" && status !== "running" && last_seq <= seen;
}

/**
 * Whether no one works on the session any more. Then it was opened, which closes what a crash left open
 * (STORE-3), as the next one to go on with it would.
 */
async function closeWhatIsLeft(context: CommandContext, session_id: string): Promise<boolean> {
  try {
    await withStore(context, async (store) => (await store.openSession(session_id)).close());
    return true;
  } catch {
    // It is in use, or this home may only be read: there is nothing to do but to look on.
    return false;
  }
}

/** Another process writes, and cannot tell us. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, LOOK_AGAIN_MS);
  });
}

const SEQ_WIDTH = 5;
const TYPE_WIDTH = 24;

function showFact(output: Output, fact: Fact, texts: FactTexts): void {
  const { dim, red, yellow } = output.colours;
  const { seq, type, tool_name = "", level, time } = fact;
  const colour = level === "error" ? red : level === "warn" ? yellow : (text: string) => text;
  const head = `${String(seq).padStart(SEQ_WIDTH)} ${time.slice(11, 23)} `;
  const name = pad(type, TYPE_WIDTH);
  const about = tool_name === "" ? "" : `${visibleLine(tool_name)} `;
  const room = output.width - head.length - name.length - lengthOf(about) - 1;
  const rest = room < 10 ? "" : fit(visibleLine(describeFact(fact, texts)), room);
  output.line(`${dim(head)}${colour(name)} ${about}${dim(rest)}`.trimEnd());
}
