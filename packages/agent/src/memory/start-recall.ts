// What a run begins with (MEM-4): memories that fit the prompt, then those of the project, the newest first, within a
// budget. Read from the home, without a call, or asked of the external memory with one; what is in the conversation already is
// not repeated.

import type {
  ContextNode,
  ConversationNode,
  FactData,
  JsonObject,
  Places,
  ToolResult,
} from "@soong/core";
import { firstChars } from "@soong/schema";
import { estimateTextTokens, listNodesInView } from "../context/index.ts";
import { readAnswer } from "./external-answer.ts";
import { checkExternalTool, type ExternalTool } from "./external-tool.ts";
import type { MemoryOwner } from "./memory-entry.ts";
import { readMemories } from "./memory-folder.ts";
import { createMemoryFilter } from "./memory-restrictions.ts";
import { renderMemory, newerFirst, recall, type RecalledMemory } from "./recall.ts";
import {
  readMemoryHashes,
  hashMemory,
  MAX_LIMIT,
  MAX_QUERY_CHARS,
  memoryNode,
  type RecallFields,
} from "./recall-tool.ts";

export interface StartRecallParts {
  /** `${SOONG_AGENT_HOME}/memory`. */
  readonly folder: string;
  /** Empty: there is none. */
  readonly project: string;
  readonly tokens: number;
}

/**
 * Given the prompt, the conversation so far, root first, and the run that begins. No one is asked, so what a rule asks about is
 * omitted like what it denies. Undefined: there is nothing to add.
 */
export type StartRecall = (
  prompt: string,
  path: readonly ConversationNode[],
  run: StartingRun,
) => Promise<
  { readonly node: ContextNode; readonly about: FactData<"memory.recalled"> } | undefined
>;

export interface StartingRun {
  /** What restricts it. */
  readonly places: Places;
  /** A call before the first model request. Undefined: it was not made or failed, which is on record. */
  call(name: string, input: JsonObject): Promise<ToolResult | undefined>;
}

const AT_START = "at the start of this run";

export function startRecall({ folder, project, tokens }: StartRecallParts): StartRecall {
  const owners: MemoryOwner[] = [
    { scope: "user" },
    ...(project === "" ? [] : [{ scope: "project" as const, project }]),
  ];
  return async (prompt, path, { places }) => {
    const isExcluded = createMemoryFilter(places, { wasJudged: false });
    const { entries } = await readMemories(folder, owners, isExcluded);
    if (entries.length === 0) return undefined;
    const known = readMemoryHashes(listNodesInView(path));
    const fresh = entries.filter((entry) => !known.has(hashMemory(entry)));
    const { recalled: fitting } = recall(fresh, {
      query: prompt,
      limit: MAX_LIMIT,
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
      const size = estimateTextTokens(renderMemory(memory));
      if (recalled.length >= MAX_LIMIT || used + size > tokens) continue;
      used += size;
      recalled.push(memory);
    }
    if (recalled.length === 0) return undefined;
    const about = {
      at: "start" as const,
      memories: recalled.map(({ entry: { id }, score }) => ({ id, score })),
      considered: entries.length,
      left_out: fresh.length - recalled.length,
      tokens: used,
    };
    return { node: memoryNode(AT_START, recalled), about };
  };
}

export interface ExternalStartRecallParts extends Omit<StartRecallParts, "folder"> {
  readonly external: ExternalTool<RecallFields>;
}

/** Throws where the tool is none of a server's. */
export function externalStartRecall(parts: ExternalStartRecallParts): StartRecall {
  const { external, project, tokens } = parts;
  const { tool, mapArguments = (fields: RecallFields): JsonObject => fields } = external;
  checkExternalTool("memory.recall_tool", tool);
  return async (prompt, path, run) => {
    const fields: RecallFields = {
      query: firstChars(prompt.trim(), MAX_QUERY_CHARS),
      scope: "all",
      limit: MAX_LIMIT,
      ...(project === "" ? {} : { project }),
    };
    const result = await run.call(tool, mapArguments(fields));
    if (result === undefined) return undefined;
    const answer = readAnswer(result, { tool, why: AT_START, tokens });
    const { node, left_out, tokens: used } = answer;
    if (node === undefined || isKnown(node, path)) return undefined;
    const recalled = { tool_name: tool, recalled_by: result.tool_call_id };
    return { node, about: { at: "start", ...recalled, left_out, tokens: used } };
  };
}

function isKnown({ data }: ContextNode, path: readonly ConversationNode[]): boolean {
  return listNodesInView(path).some(
    (node) => node.kind === "memory_context" && node.data?.["sha256"] === data?.["sha256"],
  );
}
