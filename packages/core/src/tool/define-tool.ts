// One object per tool (DEF-6). Types of the handler's input follow from the schema; nothing is checked
// here, because only a registry knows what the name and the schema have to fit.

import type { SchemaLike } from "@soong/schema";
import type { ToolDefinition } from "./definition.ts";

/** A tool from its definition; the handler's input has the type of the schema. */
export function defineTool<const Schema extends SchemaLike>(
  definition: ToolDefinition<Schema>,
): ToolDefinition<Schema> {
  return definition;
}
