// Sources of every kind, for tests of what a source may register and what a run is shown of it.

import type { AnyTool, ConfigInput, ToolSource } from "@soong/core";
import { reader } from "./world.ts";

type Rest = Partial<Omit<ToolSource, "id" | "kind" | "tools">>;

/** A server's tools, by the server's own names for them or as whole definitions. */
export function server(
  id: string,
  tools: readonly (string | AnyTool)[],
  rest: Rest = {},
): ToolSource {
  const named = tools.map((tool) =>
    typeof tool === "string" ? reader(`mcp.${id}.${tool}`) : tool,
  );
  return { id, kind: "mcp", tools: named, ...rest };
}

/** Soong's own tools of one kind, each readonly and harmless. */
export function ownSource(
  kind: "agent" | "internal",
  names: readonly string[],
  about: Partial<AnyTool> = {},
): ToolSource {
  return { id: `own-${kind}`, kind, tools: names.map((name) => reader(name, 0, about)) };
}

export function declared(id: string, tools: readonly AnyTool[], rest: Rest = {}): ToolSource {
  return { id, kind: "declarative", tools, ...rest };
}

/** No tool fits into this budget, so whatever may be deferred is. */
export const noRoom: ConfigInput = { tools: { defer_budget_tokens: 0 } };

/** The error a registration or a start ends in, as a value. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
