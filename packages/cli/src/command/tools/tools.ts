// `soong tools`: the surface a run would have, each tool with where it stands and why (SURF-3), or the same
// search the model has.

import {
  createSearchIndex,
  type CatalogEntry,
  type Surface,
  type Mode,
  type Role,
  type Run,
  type SearchMatch,
} from "@soong/core";
import { catalogEntries, toolRecord } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { searchDocumentOf } from "@soong/search";
import { EXIT, fit, pad, visibleLine, type Output } from "../../output/index.ts";
import { openRuntime } from "../../runtime/index.ts";
import { awaitServers, noteWaiting } from "../await-servers.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import {
  argument,
  JSON_OPTION,
  MODE_OPTION,
  option,
  type CommandDefinition,
} from "../define-command.ts";

export const command: CommandDefinition = {
  name: "tools",
  summary: "list the tools a run would have, with reasons, or search them",
  arguments: [argument("[query...]", "words to search for, as a model would")],
  options: [
    JSON_OPTION,
    option("--role <role>", "whose tools").choices(["main", "sub", "fork", "worker"]),
    MODE_OPTION,
  ],
  examples: ["soong tools", "soong tools --mode plan", "soong tools find text in files"],
  subcommands: { check: () => import("./check.ts") },
  run: listTools,
};

interface ToolsOptions {
  readonly json?: boolean;
  readonly role?: Role;
  readonly mode?: Mode;
}

const MOST_MATCHES = 20;

async function listTools(
  context: CommandContext,
  query: readonly string[],
  { json = false, role, mode }: ToolsOptions,
): Promise<number> {
  const ofMode = mode === undefined ? {} : { mode };
  const runtime = await openRuntime({
    env: context.env,
    cwd: context.cwd,
    config: await loadUserConfig(context),
    flags: ofMode,
    agents: true,
    ...noteWaiting(context, json),
  });
  try {
    if ((await awaitServers(context, runtime)) === "interrupted") return EXIT.interrupted;
    const session = await runtime.openEphemeralSession();
    const run = await session.startRun({ ...ofMode, ...omitUndefined({ role }) });
    return showTools(context.output, run, query.join(" "), json);
  } finally {
    await runtime.close();
  }
}

export function showTools(output: Output, run: Run, query: string, json: boolean): number {
  if (query !== "") return showMatches(output, run, query, json);
  for (const entry of catalogEntries(run.surface, run.policy)) {
    if (json) output.record("soong.tools/1", { tool: entry });
    else showEntry(output, entry);
  }
  return EXIT.ok;
}

/** The model searches what is deferred; a user may mean any tool of the surface. */
function search(surface: Surface, query: string): SearchMatch[] {
  const index = createSearchIndex(
    [...surface.loaded, ...surface.deferred].map(({ name, definition, input, tags }) =>
      searchDocumentOf({
        name,
        description: definition.description,
        input_schema: input.original,
        aliases: definition.aliases,
        title: definition.title,
        search_hint: definition.search_hint,
        tags,
      }),
    ),
  );
  return index.search(query, { limit: MOST_MATCHES });
}

function showMatches(
  output: Output,
  { surface, policy }: Run,
  query: string,
  json: boolean,
): number {
  const matches = search(surface, query);
  const entries = catalogEntries(surface, policy);
  const byName = new Map(entries.map((entry) => [entry.tool_name, entry]));
  for (const { tool_name, score, reasons } of matches) {
    const entry = byName.get(tool_name);
    if (entry === undefined) continue;
    if (json) {
      // Of a tool named in full, all there is: nothing of this run is kept that could be referred to.
      const known = tool_name === query ? surface.standing.get(tool_name)?.tool : undefined;
      const definition = known === undefined ? {} : { definition: toolRecord(known) };
      output.record("soong.tools/1", { tool: entry, score, reasons, ...definition });
    } else {
      showEntry(output, entry);
      output.line(output.colours.dim(`    matches ${visibleLine(reasons.join("; "))}`));
    }
  }
  if (matches.length === 0 && !json) {
    output.note("No tool matches that; `soong tools` without words lists all of them.");
  }
  return matches.length === 0 ? EXIT.failed : EXIT.ok;
}

const NAME_WIDTH = 24;
const STATE_WIDTH = 10;
const POLICY_WIDTH = 12;

function showEntry(output: Output, entry: CatalogEntry): void {
  const { bold, dim } = output.colours;
  const { state, policy, reason, detail, description = "" } = entry;
  const isOut = state === "excluded";
  const columns = [
    pad(visibleLine(entry.tool_name), NAME_WIDTH),
    pad(state, STATE_WIDTH),
    pad(isOut ? (reason ?? "") : policy, POLICY_WIDTH),
  ].join(" ");
  output.line(isOut ? dim(columns.trimEnd()) : bold(columns.trimEnd()));
  const text = visibleLine(isOut ? (detail ?? description) : description);
  output.line(dim(`    ${fit(text, output.width - 4)}`));
}
