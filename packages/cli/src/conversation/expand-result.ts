// Ctrl-O, Alt-M, `/output` and `/raw`: what was shown in short, whole. What is kept in an artifact is read page by page
// through the pipeline, so that no secret of it is shown.

import { visible } from "../output/index.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { renderResult, resultText, type ShownResult, type ShownResults } from "./shown-results.ts";
import type { Talk } from "./talk.ts";
import { renderTranscriptEnd } from "./transcript.ts";

export interface ExpandHost {
  readonly terminal: Terminal;
  readonly talk: Pick<Talk, "readArtifact" | "transcriptOf">;
  readonly results: ShownResults;
}

const PAGE_BYTES = 32 * 1024;

/** `number`: 1 is the newest result. `page`: of its artifacts, from 1. */
export async function expandResult(
  { terminal, talk, results }: ExpandHost,
  number: number,
  page?: number,
): Promise<void> {
  const { dim } = terminal.colours;
  const shown = results.at(number);
  if (shown === undefined) {
    terminal.print(dim(describeMissing(results.count)));
    return;
  }
  if (page !== undefined) {
    terminal.print(await readPage(talk, shown, page));
    return;
  }
  const child = childOf(shown);
  const transcript = child === undefined ? [] : await talk.transcriptOf(child);
  const { artifacts } = shown.result;
  terminal.print(
    [
      ...renderTranscriptEnd(transcript, terminal),
      renderResult(shown, terminal.colours),
      ...(artifacts.length === 0
        ? []
        : [dim(`/output ${number} 1 shows the first page of what was kept.`)]),
      dim(
        `(result ${number} of ${results.count}, newest first${number < results.count ? `; /output ${number + 1}: the one before` : ""})`,
      ),
    ].join("\n"),
  );
}

/** The last answer, as the model wrote it. */
export function showRawAnswer({
  terminal,
  results,
}: Pick<ExpandHost, "terminal" | "results">): void {
  const { dim } = terminal.colours;
  terminal.print(results.answer === "" ? dim("There is no answer yet.") : visible(results.answer));
}

/** `[N [PAGE]]` of `/output`. */
export function readOutputWish(
  rest: string,
): { readonly number: number; readonly page?: number } | undefined {
  const [all, number = "1", page] = /^(?:([1-9]\d{0,5})(?:\s+([1-9]\d{0,8}))?)?$/.exec(rest) ?? [];
  if (all === undefined) return undefined;
  return { number: Number(number), ...(page === undefined ? {} : { page: Number(page) }) };
}

function describeMissing(count: number): string {
  if (count === 0) return "No call has ended in this conversation yet.";
  return `There are ${count} results: /output 1 shows the newest, /output ${count} the oldest.`;
}

async function readPage(
  talk: ExpandHost["talk"],
  { result }: ShownResult,
  page: number,
): Promise<string> {
  const parts = result.artifacts.filter(({ media_type }) => media_type.startsWith("text/"));
  // One behind the other.
  let left = page;
  for (const { artifact_id, name = "artifact", size } of parts) {
    const pages = Math.max(1, Math.ceil(size / PAGE_BYTES));
    if (left <= pages) {
      const offset = (left - 1) * PAGE_BYTES;
      const read = await talk.readArtifact(artifact_id, offset, PAGE_BYTES);
      const text = read.is_error ? (read.error?.message ?? read.summary) : resultText(read);
      return `${visible(text.trimEnd())}\n(${visible(name)}, page ${left} of ${pages})`;
    }
    left -= pages;
  }
  return parts.length === 0
    ? "Nothing more was kept of this result than what it shows."
    : `There are only ${page - left} pages.`;
}

function childOf({ result }: ShownResult): string | undefined {
  const { agent_id, agent_definition_id } = (result.data ?? {}) as Record<string, unknown>;
  return typeof agent_id === "string" && typeof agent_definition_id === "string"
    ? agent_id
    : undefined;
}
