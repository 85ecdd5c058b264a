// What a run begins with (MEM-4): memories that fit the prompt, then those of the project, the newest first, within a
// budget. Read from the home, without a call; what is in the conversation already is not repeated.

import type { ContextNode, ConversationNode, JsonObject } from "@soong/core";
import { readPath, tokensOfText } from "../context/index.ts";
import type { MemoryOwner } from "./memory-entry.ts";
import { readMemories } from "./memory-folder.ts";
import { memoryText, newerFirst, recall, type RecalledMemory } from "./recall.ts";
import { hashesIn, hashOf, memoryNode } from "./recall-tool.ts";

export interface StartRecallParts {
  /** `${SOONG_AGENT_HOME}/memory`. */
  readonly folder: string;
  /** Empty: there is none. */
  readonly project: string;
  readonly tokens: number;
}

/** Given the prompt and the conversation so far, root first. Undefined: there is nothing to add. */
export type StartRecall = (
  prompt: string,
  path: readonly ConversationNode[],
) => Promise<{ readonly node: ContextNode; readonly about: JsonObject } | undefined>;

const MOST = 20;

export function startRecall({ folder, project, tokens }: StartRecallParts): StartRecall {
  const owners: MemoryOwner[] = [
    { scope: "user" },
    ...(project === "" ? [] : [{ scope: "project" as const, project }]),
  ];
  return async (prompt, path) => {
    const { entries } = await readMemories(folder, owners);
    if (entries.length === 0) return undefined;
    const known = hashesIn(readPath(path).units.flatMap(({ nodes }) => nodes));
    const fresh = entries.filter((entry) => !known.has(hashOf(entry)));
    const { recalled: fitting } = recall(fresh, {
      query: prompt,
      limit: MOST,
      budgetTokens: tokens,
    });
    const taken = new Set(fitting.map(({ entry }) => entry));
    const others = fresh
      .filter((entry) => entry.scope === "project" && !taken.has(entry))
      .toSorted(newerFirst)
      .map((entry): RecalledMemory => ({ entry, score: 0, conflicts: entry.conflicts_with }));
    const recalled: RecalledMemory[] = [];
    let used = 0;
    for (const memory of [...fitting, ...others]) {
      const size = tokensOfText(memoryText(memory));
      if (recalled.length >= MOST || used + size > tokens) continue;
      used += size;
      recalled.push(memory);
    }
    if (recalled.length === 0) return undefined;
    const about = {
      at: "start",
      memories: recalled.map(({ entry: { id }, score }) => ({ id, score })),
      considered: entries.length,
      left_out: fresh.length - recalled.length,
      tokens: used,
    };
    return { node: memoryNode("at the start of this run", recalled), about };
  };
}
