// The tools of a run for a loop that takes all of them at once and switches them on and off: loaded ones, and deferred ones that
// a search may load later (SEARCH-3).

import type { JsonObject, Run } from "@soong/core";

export interface ListedTool {
  /** The wire name. */
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
  readonly is_loaded: boolean;
}

/** In a fixed order: loaded tools as the kernel sends them, then deferred ones. */
export async function listTools(run: Run): Promise<ListedTool[]> {
  const { tools, names, deferred, unlisted } = await run.tools();
  const loaded = tools.map(({ name, description, input_schema }): ListedTool => {
    const isSearch = name === names.toWire("internal.search_tools");
    const also = isSearch ? describeDeferred(deferred, unlisted.count) : "";
    return {
      name,
      description: `${description}${also}`,
      input_schema: input_schema as JsonObject,
      is_loaded: true,
    };
  });
  const later = run.surface.deferred.map(({ name, definition, input }): ListedTool => ({
    name: names.toWire(name),
    description: run.redactor.text(definition.description),
    input_schema: input.lowered.schema as JsonObject,
    is_loaded: false,
  }));
  return [...loaded, ...later];
}

/** The wire names that the next request of the model may contain. */
export async function loadedNames(run: Run): Promise<string[]> {
  const { tools } = await run.tools();
  return tools.map(({ name }) => name);
}

/** A loop has no place of its own for the list, so the tool that searches them has it. */
function describeDeferred(
  deferred: readonly { readonly name: string; readonly hint: string }[],
  unlisted: number,
): string {
  if (deferred.length + unlisted === 0) return "";
  const lines = deferred.map(({ name, hint }) => (hint === "" ? name : `${name}: ${hint}`));
  const more = unlisted === 0 ? [] : [`and ${unlisted} more`];
  return `\n\nTools that it can load:\n${[...lines, ...more].join("\n")}`;
}
