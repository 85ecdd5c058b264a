// The tools that fit what was typed: those whose name has it first, then those that mention it.

import type { PlaygroundTool } from "../../wire/index.ts";

export function findTools(tools: readonly PlaygroundTool[], typed: string): PlaygroundTool[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const ranked = tools.flatMap((tool) => {
    const name = tool.tool_name.toLowerCase();
    const text = `${name} ${tool.description.toLowerCase()} ${tool.tags.join(" ").toLowerCase()}`;
    if (!words.every((word) => text.includes(word))) return [];
    return [{ tool, rank: words.filter((word) => !name.includes(word)).length }];
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank || compare(a.tool.tool_name, b.tool.tool_name))
    .map(({ tool }) => tool);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
