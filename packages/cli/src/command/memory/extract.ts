// `soong memory extract`: makes memories of candidates (MEM-3).

import {
  readCandidates,
  extractMemories,
  isCandidateFact,
  type Exclusively,
  type ExtractionReport,
  type RunArchive,
} from "@soong/agent";
import { createRedactor } from "@soong/core";
import type { Store } from "@soong/store";
import { defaultLockDirectory, withFileLock } from "@soong/platform";
import { EXIT, visibleLine, type Output } from "../../output/index.ts";
import { findArchive, memoryFolder, collectSecrets } from "../../runtime/index.ts";
import { loadUserConfig, showProblems, type CommandContext } from "../context.ts";
import { iterateSessions } from "../sessions/sessions.ts";
import { withReadOnlyStore } from "../stored.ts";
import { JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "extract",
  summary: "make memories of what agents proposed, after checks; writes nothing else",
  options: [JSON_OPTION],
  examples: ["soong memory extract"],
  exitCodes: "0; 1 when a candidate was refused",
  run: extractCandidates,
};

const PAGE = 1000;

async function extractCandidates(
  context: CommandContext,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output, env } = context;
  const config = await loadUserConfig(context);
  const { home } = config;
  const redactor = createRedactor({ secrets: await collectSecrets(config, env) });
  const report = await withReadOnlyStore(
    context,
    (store) =>
      extractMemories({
        candidates: readCandidates(archivesOf(store, home)),
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
  if (json) output.record("soong.memory/1", { report });
  else reportExtraction(output, report);
  return report.refused.length + report.problems.length === 0 ? EXIT.ok : EXIT.failed;
}

export const exclusively: Exclusively = (path, work) =>
  withFileLock(path, { lockDirectory: defaultLockDirectory() }, work);

/** Of every run there is, whether it left anything or not. */
async function* archivesOf(store: Store, home: string): AsyncGenerator<RunArchive, undefined> {
  for await (const { session_id } of iterateSessions(store)) {
    for (const { run_id } of await (await store.readSession(session_id)).runs()) {
      const archive = findArchive(home, run_id);
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

function reportExtraction(output: Output, report: ExtractionReport): void {
  const { written, merged, refused, done_before, problems } = report;
  for (const { memory_id, file, conflicts_with } of written) {
    const other = conflicts_with.length === 0 ? "" : `, unlike ${conflicts_with.join(", ")}`;
    output.line(`remembered ${memory_id}${other}: ${visibleLine(file)}`);
  }
  for (const { memory_id } of merged) output.line(`known already: ${memory_id}`);
  for (const { file, why } of refused) {
    output.note(output.noteColours.red(`refused ${visibleLine(file)}: ${visibleLine(why)}`));
  }
  showProblems(output, "soong.memory/1", problems, false);
  if (written.length + merged.length + refused.length === 0) {
    output.note(`Nothing new was proposed; ${done_before} were looked at before.`);
  }
}
