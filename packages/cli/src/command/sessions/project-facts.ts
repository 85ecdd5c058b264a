// Stored facts as records of a format, page by page: what `soong events --format` and `soong export` print (EXPORT-1).

import type { Fact } from "@soong/core";
import type { Projection } from "@soong/export";
import type { RunRecord, SessionReader, Store } from "@soong/store";
import { UsageError, visibleLine, type Output } from "../../output/index.ts";
import { readFactPages } from "../stored.ts";

export type ExportFormat =
  | "native"
  | "agent-tool"
  | "agent-runtime"
  | "agent-runtime-snapshot"
  | "cloudevents"
  | "otlp";

export interface FormatOptions {
  readonly format?: ExportFormat;
  readonly profile?: "lime";
  readonly content?: boolean;
}

/** Refuses options of another format. */
export function readFormat({ format = "native", profile, content }: FormatOptions): ExportFormat {
  if (profile !== undefined && !format.startsWith("agent-runtime")) {
    throw new UsageError(
      `--profile is for --format agent-runtime and agent-runtime-snapshot, and this is ${format}. Omit --profile, or change the format.`,
    );
  }
  if (content === true && format !== "otlp") {
    throw new UsageError(
      `--content is for --format otlp, and this is ${format}. Other formats have the content of the facts; omit --content.`,
    );
  }
  return format;
}

/** The code of the standards is loaded with the first use of one. */
export async function openProjection(
  format: ExportFormat,
  { profile, content = false, isLive = false }: FormatOptions & { readonly isLive?: boolean },
): Promise<Projection<object>> {
  if (format === "native") return NATIVE_RECORDS;
  const standards = await import("@soong/export");
  const ofProfile = profile === undefined ? {} : { profile };
  switch (format) {
    case "agent-tool":
      return standards.createAgentToolProjection();
    case "agent-runtime":
      return standards.createAgentRuntimeProjection(ofProfile);
    case "agent-runtime-snapshot": {
      const model = standards.createAgentRuntimeSnapshot(ofProfile);
      return {
        push(fact) {
          model.push(fact);
          return [];
        },
        end: () => [model.snapshot()],
      };
    }
    case "cloudevents":
      return standards.createCloudEventsProjection();
    case "otlp":
      // Of a live run each span is printed when it ends, and none waits for others.
      return standards.createOtlpProjection({ content, ...(isLive ? { spansPerRequest: 1 } : {}) });
  }
}

/** Facts as they are. */
export const NATIVE: Projection<Fact> = { push: (fact) => [fact], end: () => [] };

/** As `soong events --json` prints them. */
const NATIVE_RECORDS: Projection<object> = {
  push: (fact) => [{ schema: "soong.events/1", ...fact }],
  end: () => [],
};

export interface RecordReader<Out> {
  /** The seq of the last fact that was read. */
  readonly seen: number;
  /** How many were read. */
  readonly facts: number;
  /** Facts are missing before the last one that was read, or between it and the end that was expected. */
  readonly hasGap: boolean;
  /** What was recorded since the last time, with the records of one page of facts at a time. */
  readMore(): AsyncGenerator<readonly Out[], undefined>;
}

/**
 * Of a run, or of the whole session, then no fact behind `last_seq`: the last one when the reading began. Keeps what the
 * projection keeps: what is open.
 */
export function createRecordReader<Out>(
  reader: SessionReader,
  projection: Projection<Out>,
  { run_id, last_seq }: { readonly run_id?: string; readonly last_seq: number },
): RecordReader<Out> {
  const upTo = run_id === undefined ? last_seq : Number.POSITIVE_INFINITY;
  let seen = 0;
  let facts = 0;
  let counted = 0;
  let hasSkipped = false;
  return {
    get seen() {
      return seen;
    },
    get facts() {
      return facts;
    },
    get hasGap() {
      return hasSkipped || seen < last_seq;
    },
    async *readMore() {
      for await (const page of readFactPages(reader, { run_id, after: seen })) {
        const wanted =
          (page.at(-1)?.seq ?? 0) <= upTo ? page : page.filter(({ seq }) => seq <= upTo);
        const records = wanted.flatMap((fact) => projection.push(fact));
        seen = wanted.at(-1)?.seq ?? seen;
        facts += wanted.length;
        for (const { seq, run_seq } of wanted) count(run_id === undefined ? seq : run_seq);
        yield records;
        if (wanted.length < page.length) return undefined;
      }
      return undefined;
    },
  };

  /** Facts from before a run started have no place in it. */
  function count(place: number | undefined): void {
    if (place === undefined) return;
    hasSkipped ||= place !== counted + 1;
    counted = place;
  }
}

export function noteGap(
  output: Output,
  { hasGap }: RecordReader<object>,
  session_id: string,
): void {
  if (!hasGap) return;
  const id = visibleLine(session_id);
  output.note(
    `Facts are missing in the journal of this session: \`soong verify ${id}\` says more.`,
  );
}

/** Those of these runs that a process may still record facts of. One that was killed left them open, and ends nothing any more. */
export async function findLiveRuns(
  store: Pick<Store, "heldSessions">,
  session_id: string,
  runs: readonly RunRecord[],
): Promise<readonly RunRecord[]> {
  const open = runs.filter(({ status }) => status === "queued" || status === "running");
  if (open.length === 0) return [];
  return (await store.heldSessions([session_id])).length > 0 ? open : [];
}
