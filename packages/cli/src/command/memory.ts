// `soong memory`: what is remembered, the job that makes memories of candidates (MEM-3), and taking one away.

import {
  candidatesOf,
  extractMemories,
  forgetMemory,
  isCandidateFact,
  listMemories,
  type Exclusively,
  type ExtractionReport,
  type MemoryEntry,
  type RunArchive,
} from "@soong/agent";
import { createRedactor } from "@soong/core";
import type { Store } from "@soong/store";
import { defaultLockDirectory, withFileLock } from "@soong/tools";
import { CommandError, EXIT, UsageError, visibleLine, wrap, type Output } from "../output/index.ts";
import { archiveOf, memoryFolder, knownSecrets } from "../runtime/index.ts";
import { configOf, homeOf, type CommandContext } from "./context.ts";
import { showProblems } from "./document-problems.ts";
import { readingStore } from "./kept.ts";
import { everySession } from "./sessions.ts";

export interface MemoryOptions {
  readonly json?: boolean;
}

const SCHEMA = "soong.memory/1";
const PAGE = 1000;

export async function memoryListCommand(
  context: CommandContext,
  { json = false }: MemoryOptions,
): Promise<number> {
  const { output } = context;
  const { entries, problems } = await listMemories(memoryFolder(await homeOf(context)));
  for (const memory of entries) {
    if (json) output.record(SCHEMA, { memory });
    else showMemory(output, memory);
  }
  if (entries.length + problems.length === 0 && !json) {
    output.note(
      "Nothing is remembered yet; `soong memory extract` makes memories of what agents proposed.",
    );
  }
  return showProblems(output, SCHEMA, problems, json);
}

export async function memoryExtractCommand(
  context: CommandContext,
  { json = false }: MemoryOptions,
): Promise<number> {
  const { output, env } = context;
  const config = await configOf(context);
  const { home } = config;
  const redactor = createRedactor({ secrets: await knownSecrets(config, env) });
  const report = await readingStore(
    context,
    (store) =>
      extractMemories({
        candidates: candidatesOf(archivesOf(store, home)),
        folder: memoryFolder(home),
        redactor,
        isOnRecord: (source) => isOnRecord(store, source),
        exclusively,
      }),
    () => undefined,
  );
  if (report === undefined) {
    output.note("Nothing is kept in this home yet, so there are no candidates.");
    return EXIT.ok;
  }
  if (json) output.record(SCHEMA, { report });
  else tellReport(output, report);
  return report.refused.length + report.problems.length === 0 ? EXIT.ok : EXIT.failed;
}

export async function memoryForgetCommand(
  context: CommandContext,
  id: string,
  { json = false }: MemoryOptions,
): Promise<number> {
  const { output } = context;
  const folder = memoryFolder(await homeOf(context));
  const forgotten = await forgetMemory({ folder, id, exclusively });
  if (forgotten.kind === "unknown") {
    throw new CommandError(
      `There is no memory ${visibleLine(id)}. \`soong memory list\` lists them.`,
    );
  }
  if (forgotten.kind === "ambiguous") {
    throw new UsageError(`Several are called so: give ${forgotten.ids.join(" or ")}.`);
  }
  if (json) output.record(SCHEMA, { forgotten: { id, file: forgotten.file } });
  else output.line(`forgotten: ${visibleLine(forgotten.file)}`);
  return EXIT.ok;
}

const exclusively: Exclusively = (path, work) =>
  withFileLock(path, { lockDirectory: defaultLockDirectory() }, work);

/** Of every run there is, whether it left anything or not. */
async function* archivesOf(store: Store, home: string): AsyncGenerator<RunArchive, undefined> {
  for await (const { session_id } of everySession(store)) {
    for (const { run_id } of await (await store.readSession(session_id)).runs()) {
      const archive = archiveOf(home, run_id);
      if (archive !== undefined) yield { session_id, run_id, archive };
    }
  }
  return undefined;
}

async function isOnRecord(
  store: Store,
  source: Parameters<typeof isCandidateFact>[1],
): Promise<boolean> {
  const { session_id, run_id, tool_call_id } = source;
  const reader = await store.readSession(session_id);
  const facts = await reader.facts({ run_id, tool_call_id, limit: PAGE });
  return facts.some((fact) => isCandidateFact(fact, source));
}

function showMemory(output: Output, memory: MemoryEntry): void {
  const { bold, dim } = output.colours;
  const whose = memory.scope === "user" ? "user" : `project ${visibleLine(memory.project)}`;
  const tags = memory.tags.length === 0 ? "" : `  ${memory.tags.map(visibleLine).join(", ")}`;
  output.line(`${bold(visibleLine(memory.id))}  ${whose}${tags}  ${dim(memory.created_at)}`);
  for (const line of wrap(visibleLine(memory.content), output.width, "    ")) output.line(line);
  if (memory.conflicts_with.length === 0) return;
  output.line(dim(`    says something else than ${memory.conflicts_with.join(", ")}`));
}

function tellReport(output: Output, report: ExtractionReport): void {
  const { written, merged, refused, done_before, problems } = report;
  for (const { memory_id, file, conflicts_with } of written) {
    const other = conflicts_with.length === 0 ? "" : `, unlike ${conflicts_with.join(", ")}`;
    output.line(`remembered ${memory_id}${other}: ${visibleLine(file)}`);
  }
  for (const { memory_id } of merged) output.line(`known already: ${memory_id}`);
  for (const { file, why } of refused) {
    output.note(output.noteColours.red(`refused ${visibleLine(file)}: ${visibleLine(why)}`));
  }
  showProblems(output, SCHEMA, problems, false);
  if (written.length + merged.length + refused.length === 0) {
    output.note(`Nothing new was proposed; ${done_before} were looked at before.`);
  }
}
