// Which tools a request of the model has: what the loop put into it, as the kernel offers it now. A call of any other tool is
// not executed, also if the kernel has that tool.

import type { ModelTools, Run } from "@soong/core";
import { resolveName, type ListedTool } from "../kernel/index.ts";

export interface RequestedTools<Tool> {
  /** Tools of the loop's own. */
  readonly foreign: readonly Tool[];
  /** Wire names of the kernel's tools that the loop may use; of those, the request has what is loaded. */
  readonly mayUse: (name: string) => boolean;
}

/** Throws where a tool of the loop's own has the name of one of ours: which of them runs would be left to chance. */
export function readRequestedTools<Tool extends Readonly<Record<string, unknown>>>(
  tools: readonly Tool[],
  registered: ReadonlyMap<string, { readonly tool: unknown }>,
): RequestedTools<Tool> {
  const foreign: Tool[] = [];
  const given = new Set<string>();
  for (const tool of tools) {
    const name = String(tool["name"]);
    const own = registered.get(name);
    if (own === undefined) foreign.push(tool);
    else if (tool !== own.tool && typeof tool["invoke"] === "function") throw nameClash(name);
    else given.add(name);
  }
  // Only a loop that has chosen none of them itself gets tools that were added to the kernel later.
  const hasAll = given.size === registered.size;
  return {
    foreign,
    mayUse: (name) => given.has(name) || (hasAll && !registered.has(name)),
  };
}

/** Names in the calls of an answer that mean a tool of the kernel which the loop may not use. */
export function findNotOffered(
  called: Iterable<string>,
  { foreign, mayUse }: RequestedTools<Readonly<Record<string, unknown>>>,
  run: Run,
  names: ModelTools["names"],
): string[] {
  const others = new Set(foreign.map(({ name }) => String(name)));
  return [...new Set(called)].filter((name) => {
    const canonical = others.has(name) ? undefined : resolveName(run, names, name);
    return canonical !== undefined && !mayUse(names.toWire(canonical));
  });
}

/** What LangChain holds under a name cannot be replaced, but it takes a plain definition in its place. */
export function chooseDefinition(
  known: (ListedTool & { readonly tool: object }) | undefined,
  { name, description, input_schema: schema }: ListedTool,
): object {
  const isSame =
    known !== undefined &&
    known.description === description &&
    JSON.stringify(known.input_schema) === JSON.stringify(schema);
  return isSame ? known.tool : { name, description, schema };
}

function nameClash(name: string): Error {
  return new Error(
    `The agent has a tool ${name} that is not the one of this bridge. Rename it, and take tools and middleware from the same bridge.`,
  );
}
