// `soong memory list`.

import { listMemories, type MemoryEntry } from "@soong/agent";
import { visibleLine, wrap, type Output } from "../../output/index.ts";
import { memoryFolder } from "../../runtime/index.ts";
import { resolveHome, showProblems, type CommandContext } from "../context.ts";
import { JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "list",
  summary: "list what is remembered, of the user and of each project",
  options: [JSON_OPTION],
  examples: ["soong memory list --json"],
  run: listStoredMemories,
};

async function listStoredMemories(
  context: CommandContext,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output } = context;
  const { entries, problems } = await listMemories(memoryFolder(await resolveHome(context)));
  for (const memory of entries) {
    if (json) output.record("soong.memory/1", { memory });
    else showMemory(output, memory);
  }
  if (entries.length + problems.length === 0 && !json) {
    output.note(
      "Nothing is remembered yet; `soong memory extract` makes memories of what agents proposed.",
    );
  }
  return showProblems(output, "soong.memory/1", problems, json);
}

function showMemory(output: Output, memory: MemoryEntry): void {
  const { bold, dim } = output.colours;
  const whose = memory.scope === "user" ? "user" : `project ${visibleLine(memory.project)}`;
  const tags = memory.tags.length === 0 ? "" : `  ${memory.tags.map(visibleLine).join(", ")}`;
  output.line(`${bold(visibleLine(memory.id))}  ${whose}${tags}  ${dim(memory.created_at)}`);
  for (const line of wrap(visibleLine(memory.content), output.width, "    ")) output.line(line);
  if (memory.conflicts_with.length === 0) return;
  output.line(dim(`    says something else than ${memory.conflicts_with.join(", ")}`));
}
