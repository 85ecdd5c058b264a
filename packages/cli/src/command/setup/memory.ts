// `soong memory`: what is remembered from earlier work. `extract` makes memories of what agents proposed (MEM-3).

import {
  extractMemories,
  forgetMemory,
  isCandidateFact,
  listMemories,
  readCandidates,
  type Exclusively,
  type ExtractionReport,
  type RunArchive,
} from "@soong/agent";
import { defaultLockDirectory, withFileLock } from "@soong/platform";
import type { Store } from "@soong/store";
import { CommandError, EXIT, UsageError, visibleLine, wrap } from "../../output/index.ts";
import { findArchive, homePaths } from "../../runtime/home.ts";
import { createHomeRedactor, loadUserConfig, printProblems, resolveHome } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { iterateSessions, withReadOnlyStore } from "../stored.ts";

const PAGE = 1000;

const exclusively: Exclusively = (path, work) =>
  withFileLock(path, { lockDirectory: defaultLockDirectory() }, work);

export const listStoredMemories: Handler<"memory list"> = async (context) => {
  const { output, json, print } = context;
  const { bold, dim } = output.colours;
  const { entries, problems } = await listMemories(homePaths(resolveHome(context)).memory);
  for (const memory of entries) {
    print({ memory }, () => {
      const { id, scope, created_at, content, conflicts_with } = memory;
      const whose = scope === "user" ? "user" : `project ${visibleLine(memory.project)}`;
      const tags = memory.tags.length === 0 ? "" : `  ${memory.tags.map(visibleLine).join(", ")}`;
      const others = dim(`    says something else than ${conflicts_with.join(", ")}`);
      return [
        `${bold(visibleLine(id))}  ${whose}${tags}  ${dim(created_at)}`,
        ...wrap(visibleLine(content), output.width, "    "),
        ...(conflicts_with.length === 0 ? [] : [others]),
      ];
    });
  }
  if (entries.length + problems.length === 0 && !json) {
    output.note(
      "Nothing is remembered yet; `soong memory extract` makes memories of what agents proposed.",
    );
  }
  return printProblems(context, problems);
};

/** What a memory came from does not bring it back. */
export const forgetStoredMemory: Handler<"memory forget"> = async (context, { id }) => {
  const folder = homePaths(resolveHome(context)).memory;
  const forgotten = await forgetMemory({ folder, id, exclusively });
  if (forgotten.kind === "unknown") {
    throw new CommandError(
      `There is no memory ${visibleLine(id)}. \`soong memory list\` lists them.`,
    );
  }
  if (forgotten.kind === "ambiguous") {
    throw new UsageError(`Several are called so: give ${forgotten.ids.join(" or ")}.`);
  }
  const { file } = forgotten;
  context.print({ forgotten: { id, file } }, () => `forgotten: ${visibleLine(file)}`);
};

export const extractCandidates: Handler<"memory extract"> = async (context) => {
  const { output, print } = context;
  const { home } = await loadUserConfig(context);
  const redactor = await createHomeRedactor(home, context.env);
  const noneStored = (): undefined => undefined;
  const report = await withReadOnlyStore<ExtractionReport | undefined>(
    context,
    noneStored,
    (store) =>
      extractMemories({
        candidates: readCandidates(iterateArchives(store, home)),
        folder: homePaths(home).memory,
        redactor,
        async isOnRecord(source) {
          const { session_id, run_id, tool_call_id } = source;
          const reader = await store.readSession(session_id);
          const facts = await reader.facts({ run_id, tool_call_id, limit: PAGE });
          return facts.some((fact) => isCandidateFact(fact, source));
        },
        exclusively,
      }),
  );
  if (report === undefined) {
    output.note("Nothing is kept in this home yet, so there are no candidates.");
    return EXIT.ok;
  }
  print({ report }, () => showExtraction(context, report));
  return report.refused.length + report.problems.length === 0 ? EXIT.ok : EXIT.failed;
};

/** Of every run there is, with anything in it or not. */
async function* iterateArchives(store: Store, home: string): AsyncGenerator<RunArchive, undefined> {
  for await (const { session_id } of iterateSessions(store)) {
    for (const { run_id } of await (await store.readSession(session_id)).runs()) {
      const archive = findArchive(home, run_id);
      if (archive !== undefined) yield { session_id, run_id, archive };
    }
  }
  return undefined;
}

function showExtraction(context: CommandContext, report: ExtractionReport): void {
  const { output } = context;
  const { written, merged, refused, done_before, problems } = report;
  for (const { memory_id, file, conflicts_with } of written) {
    const other = conflicts_with.length === 0 ? "" : `, unlike ${conflicts_with.join(", ")}`;
    output.line(`remembered ${memory_id}${other}: ${visibleLine(file)}`);
  }
  for (const { memory_id } of merged) output.line(`known already: ${memory_id}`);
  for (const { file, why } of refused) {
    output.note(`refused ${visibleLine(file)}: ${visibleLine(why)}`, "red");
  }
  printProblems(context, problems);
  if (written.length + merged.length + refused.length === 0) {
    output.note(`Nothing new was proposed; ${done_before} were looked at before.`);
  }
}
