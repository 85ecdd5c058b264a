// `soong memory`: what is remembered from earlier work. `extract` makes memories of what agents proposed (MEM-3).

import { resolve } from "node:path";
import {
  forgetMemory,
  listMemories,
  type ExtractionReport,
  type MemoryEntry,
  type MemoryNote,
  type StoredMemory,
} from "@soong/agent";
import type { Store } from "@soong/store";
import { resolvePath } from "@soong/tools";
import {
  CommandError,
  describeAge,
  EXIT,
  fit,
  UsageError,
  visibleLine,
  wrap,
} from "../../output/index.ts";
import { homePaths } from "../../runtime/home.ts";
import { exclusively, openUserMemories, type ArchivedSession } from "../../runtime/memories.ts";
import { createHomeRedactor, loadUserConfig, printProblems, resolveHome } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { ambiguousId, filterById, unknownId, type IdSubject } from "../match-id.ts";
import { iterateSessions, withReadOnlyStore } from "../stored.ts";
import { readStdin } from "../tools/tool-input.ts";

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
        `${bold(visibleLine(id))}  ${whose}${tags}  ${dim(created_at.slice(0, 10))}`,
        ...wrap(visibleLine(content), output.width, "    "),
        ...(conflicts_with.length === 0 ? [] : [others]),
      ];
    });
  }
  if (entries.length + problems.length === 0 && !json) {
    output.note(
      "Nothing is remembered yet; `soong memory add TEXT` adds a memory, `soong memory extract` makes some of what agents proposed.",
    );
  }
  return printProblems(context, problems);
};

/** What a memory came from does not bring it back. */
export const forgetStoredMemory: Handler<"memory forget"> = async (context, { id: given }) => {
  const folder = homePaths(resolveHome(context)).memory;
  const { entries } = await listMemories(folder);
  const found = filterById(given, entries, MEMORY);
  const [id = given, ...others] = new Set(found.map(MEMORY.id));
  if (others.length > 0) throw ambiguousId(given, found, MEMORY);
  const forgotten = await forgetMemory({ folder, id, exclusively });
  if (forgotten.kind === "unknown") {
    throw unknownId(id, entries.map(MEMORY.id), MEMORY);
  }
  if (forgotten.kind === "ambiguous") {
    throw new UsageError(`Several are called so: give ${forgotten.ids.join(" or ")}.`);
  }
  const { file } = forgotten;
  context.print({ forgotten: { id, file } }, () => `forgotten: ${visibleLine(file)}`);
};

const MEMORY: IdSubject<MemoryEntry> = {
  kind: "memory",
  id: ({ id }) => id,
  describe: ({ content, created_at }) =>
    `${fit(visibleLine(content), CONTENT_CHARS)}  ${describeAge(created_at, Date.now())}`,
  hint: "`soong memory list` lists them.",
};
const CONTENT_CHARS = 60;

export const addStoredMemory: Handler<"memory add"> = async (context, { text }, options) => {
  const { scope, tag = [], cwd = "" } = options;
  const given = text.join(" ");
  const content = given === "-" ? await readStdin(context) : given;
  const { home } = await loadUserConfig(context);
  const owner: MemoryNote["owner"] =
    scope === "user"
      ? { scope }
      : { scope: "project", project: await resolvePath("/", resolve(context.cwd, cwd)) };
  const redactor = await createHomeRedactor(home, context.env);
  const added = await openUserMemories({ home, redactor }).add({ content, tags: tag, owner });
  if (!added.ok) throw new CommandError(`That is not remembered: ${visibleLine(added.why)}.`);
  const { ok: _ok, ...memory } = added;
  context.print({ memory: { ...memory, ...owner } }, () => describeAdded(memory));
};

export const extractCandidates: Handler<"memory extract"> = async (context) => {
  const { output, print } = context;
  const { home } = await loadUserConfig(context);
  const redactor = await createHomeRedactor(home, context.env);
  const noneStored = (): undefined => undefined;
  const report = await withReadOnlyStore<ExtractionReport | undefined>(
    context,
    noneStored,
    (store) => openUserMemories({ home, redactor }).extract(store, iterateArchived(store)),
  );
  if (report === undefined) {
    output.note("Nothing is kept in this home yet, so there are no candidates.");
    return EXIT.ok;
  }
  print({ report }, () => showExtraction(context, report));
  return report.refused.length + report.problems.length === 0 ? EXIT.ok : EXIT.failed;
};

/** Every run there is, with anything in its archive or not. */
async function* iterateArchived(store: Store): AsyncGenerator<ArchivedSession, undefined> {
  for await (const { session_id } of iterateSessions(store)) {
    const runs = await (await store.readSession(session_id)).runs();
    yield { session_id, run_ids: runs.map(({ run_id }) => run_id) };
  }
  return undefined;
}

function showExtraction(context: CommandContext, report: ExtractionReport): void {
  const { output } = context;
  const { written, merged, refused, done_before, problems } = report;
  for (const one of written) output.line(describeAdded({ kind: "written", ...one }));
  for (const one of merged) output.line(describeAdded({ kind: "merged", ...one }));
  for (const { file, why } of refused) {
    output.note(`refused ${visibleLine(file)}: ${visibleLine(why)}`, "red");
  }
  printProblems(context, problems);
  if (written.length + merged.length + refused.length === 0) {
    output.note(`Nothing new was proposed; ${done_before} were looked at before.`);
  }
}

/** One line: what became of a text. */
export function describeAdded({
  kind,
  memory_id,
  file,
  conflicts_with,
}: StoredMemory & { readonly kind: "written" | "merged" }): string {
  if (kind === "merged") return `known already: ${memory_id}`;
  const other = conflicts_with.length === 0 ? "" : `, unlike ${conflicts_with.join(", ")}`;
  return `remembered ${memory_id}${other}: ${visibleLine(file)}`;
}
