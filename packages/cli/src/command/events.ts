// `soong events`: the facts of a run, one a line, as they are in the journal; with --follow until it ends (CLI-4).

import type { Fact } from "@soong/core";
import type { RunRecord, SessionReader, Store } from "@soong/store";
import {
  CommandError,
  EXIT,
  fit,
  lengthOf,
  pad,
  visibleJson,
  visibleLine,
  type Output,
} from "../output/index.ts";
import type { CommandContext } from "./context.ts";
import { nothingKept, readingStore } from "./kept.ts";

const PAGE = 500;
const LOOK_AGAIN_MS = 100;

export interface EventsOptions {
  readonly json?: boolean;
  readonly follow?: boolean;
}

export async function eventsCommand(
  context: CommandContext,
  run_id: string,
  { json = false, follow = false }: EventsOptions,
): Promise<number> {
  const { output } = context;
  const show = (fact: Fact): void =>
    json ? output.record("soong.events/1", fact) : showFact(output, fact);
  return readingStore(
    context,
    async (store) => {
      const reader = await store.readSession((await runOf(store, run_id)).session_id);
      let seen = await showFrom(reader, run_id, 0, output, show);
      if (!follow) return EXIT.ok;
      while (!output.isClosed && !(await hasEnded(store, run_id, seen))) {
        await pause();
        seen = await showFrom(reader, run_id, seen, output, show);
      }
      return EXIT.ok;
    },
    () => nothingKept(`run ${run_id}`),
  );
}

async function runOf(store: Store, run_id: string): Promise<RunRecord> {
  const run = await store.findRun(run_id);
  if (run !== undefined) return run;
  throw new CommandError(
    `There is no run ${visibleLine(run_id)}. \`soong call --json\` names the run it made; the folders in runs/ of the home have their names.`,
  );
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
  const { status, last_seq } = await runOf(store, run_id);
  return status !== "queued" && status !== "running" && last_seq <= seen;
}

/** Another process writes, and cannot tell us. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, LOOK_AGAIN_MS);
  });
}

const SEQ_WIDTH = 5;
const TYPE_WIDTH = 24;

function showFact(output: Output, fact: Fact): void {
  const { dim, red, yellow } = output.colours;
  const { seq, type, tool_name = "", level, data, time } = fact;
  const colour = level === "error" ? red : level === "warn" ? yellow : (text: string) => text;
  const head = `${String(seq).padStart(SEQ_WIDTH)} ${time.slice(11, 23)} `;
  const name = pad(type, TYPE_WIDTH);
  const about = tool_name === "" ? "" : `${visibleLine(tool_name)} `;
  const room = output.width - head.length - name.length - lengthOf(about) - 1;
  const rest = room < 10 ? "" : fit(visibleJson(data), room);
  output.line(`${dim(head)}${colour(name)} ${about}${dim(rest)}`.trimEnd());
}
