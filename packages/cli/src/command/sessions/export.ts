// `soong export`: a whole session, with child agents, as records of a standard, on stdout or in a file (CLI-4, EXPORT-1).

import { resolve } from "node:path";
import { countOf, visibleJson, type Redactor } from "@soong/core";
import type { Store } from "@soong/store";
import { EXIT, UsageError, visibleLine } from "../../output/index.ts";
import { createHomeRedactor, resolveHome } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { onTermination, withInterrupt } from "../signals.ts";
import { resolveSession, withReadOnlyStore } from "../stored.ts";
import { checkExportFile, writeExportFile } from "./export-file.ts";
import {
  createRecordReader,
  findLiveRuns,
  noteGap,
  openProjection,
  readFormat,
  type ExportFormat,
  type FormatOptions,
  type RecordReader,
} from "./project-facts.ts";

export const exportSession: Handler<"export"> = async (context, { session: given }, options) => {
  const { cwd, output } = context;
  const { force = false, json } = options;
  const out = options.out === "-" ? undefined : options.out;
  const format = readFormat(options);
  if (out === undefined && (force || json === true)) {
    throw new UsageError(
      `--${force ? "force" : "json"} is for --out FILE, and this goes to stdout. Name a file, or omit it.`,
    );
  }
  const home = resolveHome(context);
  const file =
    out === undefined ? undefined : await checkExportFile(resolve(cwd, out), { force, home });
  const missing = given === undefined ? "session" : `session ${given}`;
  return withReadOnlyStore(context, missing, async (store) => {
    const { session_id } = await resolveSession(context, store, given);
    const projected = await openSessionExport(store, session_id, options);
    if (file === undefined) {
      for await (const records of projected.records()) {
        for (const record of records) output.json(record);
        await output.drained();
        if (output.isClosed) return EXIT.ok;
      }
    } else {
      const redactor = await createHomeRedactor(home, context.env);
      const stopped = await withStop(context, async (signal) => {
        const lines = renderLines(context, projected, redactor, signal);
        return writeExportFile(file, lines, { force, signal });
      });
      if (stopped !== undefined) return stopped;
      reportFile(context, projected, { session_id, format, file });
    }
    noteGap(output, projected.source, session_id);
    noteOpenRuns(context, projected, format);
    return EXIT.ok;
  });
};

/** A session on its way into records; what it counts is of what was read so far. */
interface SessionExport {
  /** Of one page of facts at a time. */
  records(): AsyncGenerator<readonly object[], undefined>;
  readonly source: RecordReader<object>;
  readonly written: number;
  /** What is recorded later is not exported. */
  readonly expected: number;
  /** Runs that a process works on. */
  readonly openRuns: number;
}

async function openSessionExport(
  store: Store,
  session_id: string,
  options: FormatOptions,
): Promise<SessionExport> {
  const { format = "native" } = options;
  const reader = await store.readSession(session_id);
  const { length: openRuns } = await findLiveRuns(store, session_id, await reader.runs());
  const { last_seq } = await reader.record();
  const isLive = openRuns > 0;
  const projection = await openProjection(format, { ...options, isLive });
  const source = createRecordReader(reader, projection, { last_seq });
  let written = 0;
  return {
    source,
    expected: last_seq,
    openRuns,
    get written() {
      return written;
    },
    async *records() {
      for await (const records of source.readMore()) {
        written += records.length;
        yield records;
      }
      // A snapshot is of now; other formats would end what has not ended.
      if (isLive && format !== "agent-runtime-snapshot") return undefined;
      const last = projection.end();
      written += last.length;
      yield last;
      return undefined;
    },
  };
}

function noteOpenRuns(
  { output }: CommandContext,
  { openRuns }: SessionExport,
  format: ExportFormat,
): void {
  if (openRuns === 0) return;
  const runs = openRuns === 1 ? "1 run has" : `${openRuns} runs have`;
  output.note(`${runs} not ended: ${WHILE_OPEN[format]}.`);
}

const LATER_FACTS = "later facts are not in this export";
const NO_END = "what is still open has no end in this export";

const WHILE_OPEN: Readonly<Record<ExportFormat, string>> = {
  native: LATER_FACTS,
  cloudevents: LATER_FACTS,
  "agent-tool": NO_END,
  "agent-runtime": NO_END,
  "agent-runtime-snapshot": "this is the state of now",
  otlp: "spans that are still open are not in this export",
};

/** Ctrl-C and signals that end the process abort the work, whose end is waited for. Resolves to the exit code, or to nothing. */
function withStop(
  context: CommandContext,
  work: (signal: AbortSignal) => Promise<boolean>,
): Promise<number | undefined> {
  return withInterrupt(context, async (interrupted) => {
    const terminated = new AbortController();
    let exitCode: number = EXIT.interrupted;
    const stopListening = onTermination((code) => {
      exitCode = code;
      terminated.abort();
    });
    try {
      const isWhole = await work(AbortSignal.any([interrupted, terminated.signal]));
      return isWhole ? undefined : exitCode;
    } finally {
      stopListening();
    }
  });
}

async function* renderLines(
  context: CommandContext,
  projected: SessionExport,
  redactor: Redactor,
  signal: AbortSignal,
): AsyncGenerator<string, undefined> {
  const progress = createProgress(context, projected);
  try {
    for await (const records of projected.records()) {
      signal.throwIfAborted();
      yield records.map((record) => `${visibleJson(redactor.value(record))}\n`).join("");
      progress.show();
    }
  } finally {
    progress.clear();
  }
  return undefined;
}

const PROGRESS_MS = 200;

/** For someone who waits at a terminal. */
function createProgress({ output, isInteractive }: CommandContext, projected: SessionExport) {
  let shownAt = Date.now();
  let isShown = false;
  return {
    show(): void {
      if (!isInteractive || Date.now() - shownAt < PROGRESS_MS) return;
      shownAt = Date.now();
      isShown = true;
      output.prompt(`\r${projected.source.facts} of ${projected.expected} facts`);
    },
    clear(): void {
      if (isShown) output.prompt("\r\u001b[K");
    },
  };
}

function reportFile(
  { output, json, print }: CommandContext,
  { source, written }: SessionExport,
  about: { readonly session_id: string; readonly format: ExportFormat; readonly file: string },
): void {
  const { session_id, format, file } = about;
  const { facts } = source;
  const records = format === "native" ? "" : ` as ${countOf(written, "record")} (${format})`;
  if (json) print({ session_id, format, file, facts, records: written }, () => {});
  else {
    const from = `${countOf(facts, "fact")} of ${visibleLine(session_id)}`;
    output.note(`${visibleLine(file)}: ${from}${records}.`);
  }
}
