// `soong tools`: the surface a run would have, each tool with its state and why (SURF-3), one of them for people, or the
// same search the model has.

import { createSearchIndex, type CatalogEntry, type Run, type SearchMatch } from "@soong/core";
import { catalogEntries, toolRecord } from "@soong/core/internal";
import { createSearchDocument } from "@soong/search";
import { EXIT, fit, pad, visibleLine, wrap, type Output } from "../../output/index.ts";
import { withReadyRuntime } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { renderTool } from "./tool-page.ts";

const MOST_MATCHES = 20;

export const listTools: Handler<"tools"> = async (context, { query }, options) => {
  const { role, mode } = options;
  return withReadyRuntime(context, options, { agents: true }, async (runtime) => {
    const session = await runtime.openEphemeralSession();
    return printTools(context, await session.startRun({ mode, role }), query.join(" "));
  });
};

/** With the name of a tool, all about it; with another query, those that match it. */
export function printTools(
  { output, json, print }: Pick<CommandContext, "output" | "json" | "print">,
  run: Run,
  query: string,
): number {
  const { surface, policy } = run;
  const entries = catalogEntries(surface, policy);
  if (query === "") {
    const ofOthers = entries.filter(isOfOtherRoles);
    for (const tool of entries) {
      print({ tool }, () => (isOfOtherRoles(tool) ? [] : renderEntry(output, tool)));
    }
    if (ofOthers.length > 0 && !json) {
      const names = ofOthers.map(({ tool_name }) => visibleLine(tool_name)).join(", ");
      const { dim } = output.colours;
      for (const row of wrap(`For other roles or modes: ${names}`, output.width)) {
        output.line(dim(row));
      }
    }
    return EXIT.ok;
  }
  const byName = new Map(entries.map((entry) => [entry.tool_name, entry]));
  const matches = searchSurface(run, query);
  const named = byName.get(query);
  if (named !== undefined) {
    const registered = surface.standing.get(query)?.tool;
    const { score, reasons } = matches.find(({ tool_name }) => tool_name === query) ?? {};
    // All there is: nothing of this run is stored that could be referred to.
    const definition = registered === undefined ? {} : { definition: toolRecord(registered) };
    const found = score === undefined ? {} : { score, reasons };
    print({ tool: named, ...found, ...definition }, () => renderTool(output, run, named));
    return EXIT.ok;
  }
  for (const { tool_name, score, reasons } of matches) {
    const tool = byName.get(tool_name);
    if (tool === undefined) continue;
    print({ tool, score, reasons }, () => [
      ...renderEntry(output, tool),
      output.colours.dim(`    matches ${visibleLine(reasons.join("; "))}`),
    ]);
  }
  if (matches.length > 0) return EXIT.ok;
  if (!json) output.note("No tool matches that; `soong tools` without words lists all of them.");
  return EXIT.failed;
}

/** Nothing that the user could change about this run. */
function isOfOtherRoles({ state, reason }: CatalogEntry): boolean {
  return state === "excluded" && reason === "role_not_allowed";
}

/** The model searches what is deferred; a user may mean any tool of the surface. */
function searchSurface({ surface }: Run, query: string): SearchMatch[] {
  const documents = [...surface.loaded, ...surface.deferred].map(
    ({ name, definition, input, tags }) =>
      createSearchDocument({
        name,
        description: definition.description,
        input_schema: input.original,
        aliases: definition.aliases,
        title: definition.title,
        search_hint: definition.search_hint,
        tags,
      }),
  );
  return createSearchIndex(documents).search(query, { limit: MOST_MATCHES });
}

const NAME_WIDTH = 24;
const STATE_WIDTH = 10;
const POLICY_WIDTH = 12;

function renderEntry({ colours, width }: Output, entry: CatalogEntry): string[] {
  const { state, policy, reason = "", detail, description = "" } = entry;
  const isOut = state === "excluded";
  const columns = [
    pad(visibleLine(entry.tool_name), NAME_WIDTH),
    pad(state, STATE_WIDTH),
    pad(isOut ? reason : policy, POLICY_WIDTH),
  ].join(" ");
  const text = visibleLine(isOut ? (detail ?? description) : description);
  return [
    (isOut ? colours.dim : colours.bold)(columns.trimEnd()),
    colours.dim(`    ${fit(text, width - 4)}`),
  ];
}
