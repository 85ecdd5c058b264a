// internal.recall_memory (MEM-1, MEM-4): looks into long-term memory and brings what it finds into the conversation, each
// memory once per content; or asks the tool the user has configured. It changes nothing.

import {
  countOf,
  defineTool,
  ToolFailure,
  toolResult,
  type AnyTool,
  type ContextNode,
  type ConversationNode,
  type Roots,
} from "@soong/core";
import { listNodesInView, type FindRun } from "../context/index.ts";
import { readAnswer } from "./external-answer.ts";
import { callExternalTool, type ExternalTool } from "./external-tool.ts";
import { sha256, type MemoryEntry, type MemoryOwner } from "./memory-entry.ts";
import { readMemories } from "./memory-folder.ts";
import { createMemoryFilter, listRecallTargets } from "./memory-restrictions.ts";
import { renderMemory, NOTES_RANK, recall, type Recall, type RecalledMemory } from "./recall.ts";

export const RECALL_MEMORY = "internal.recall_memory";

export type RecallFields = {
  readonly query: string;
  readonly scope: "user" | "project" | "all";
  readonly limit: number;
  readonly project?: string;
};

export interface RecallParts {
  /** A memory outside of the home; the folder is not read then. */
  readonly external?: ExternalTool<RecallFields>;
  /** `${SOONG_AGENT_HOME}/memory`. */
  readonly folder: string;
  readonly findRun: FindRun;
  /** What one recall may bring. Default: 2 000. */
  readonly recallTokens?: number;
}

const DEFAULT_LIMIT = 5;
export const MAX_LIMIT = 20;
export const MAX_QUERY_CHARS = 1_000;
const DEFAULT_TOKENS = 2_000;

export function recallTool(parts: RecallParts): AnyTool {
  const { folder, findRun, recallTokens = DEFAULT_TOKENS, external } = parts;
  return defineTool({
    name: RECALL_MEMORY,
    title: "Recall memories",
    search_hint: "remember recall earlier preferences decisions",
    description:
      "Looks into long-term memory: notes from earlier work about the user and about this project. Matches come into the conversation after the result. They may be out of date.",
    input_schema: {
      type: "object",
      additionalProperties: false,
      required: ["query"],
      properties: {
        query: {
          type: "string",
          minLength: 1,
          maxLength: MAX_QUERY_CHARS,
          description:
            external === undefined
              ? "What you want to know, in the words a note about it would use."
              : "One or two words that a note about it would hold.",
        },
        scope: {
          type: "string",
          enum: ["user", "project", "all"],
          description:
            "user: what holds everywhere; project: what is about this project. Default: all.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: MAX_LIMIT,
          description: `How many at most. Default: ${DEFAULT_LIMIT}.`,
        },
      },
    },
    permission: "readonly",
    concurrency_safe: external === undefined,
    destructive: false,
    open_world: false,
    tags: ["internal"],
    targets:
      external === undefined
        ? ({ scope = "all" }, context) =>
            listRecallTargets(folder, listOwners(scope, context.roots), context)
        : undefined,
    handler: async (input, context) => {
      const { query, scope = "all", limit = DEFAULT_LIMIT } = input;
      if (external !== undefined) {
        const { project } = context.roots;
        const fields = { query, scope, limit, ...(project === "" ? {} : { project }) };
        return recallExternally(external, fields, {
          context,
          calling: findRun(context),
          recallTokens,
        });
      }
      const { entries, problems, restricted } = await readMemories(
        folder,
        listOwners(scope, context.roots),
        createMemoryFilter(context, { wasJudged: true }),
      );
      const calling = findRun(context);
      const known = readMemoryHashes(listNodesInView(calling?.path() ?? []));
      const fresh = entries.filter((entry) => !known.has(hashMemory(entry)));
      const found = recall(fresh, { query, limit, budgetTokens: recallTokens });
      const again = recall(
        entries.filter((entry) => known.has(hashMemory(entry))),
        { query, limit, budgetTokens: Number.POSITIVE_INFINITY },
      ).recalled;
      const about = {
        query,
        scope,
        memories: found.recalled.map(({ entry: { id }, score }) => ({ id, score })),
        in_the_conversation: again.map(({ entry: { id } }) => id),
        considered: entries.length,
        left_out: found.left_out,
        tokens: found.tokens,
      };
      const call = { tool_call_id: context.toolCallId, tool_name: context.toolName };
      calling?.run.recorder.record("memory.recalled", about, call);
      return toolResult({
        content: [
          {
            type: "text",
            text: renderRecall(found, again, {
              considered: entries.length,
              unreadable: problems.length,
              restricted,
            }),
          },
        ],
        data: {
          ...about,
          memories: found.recalled.map(toMemoryRecord),
          unreadable: problems.length,
          ...(restricted === 0 ? {} : { restricted }),
        },
        ...(found.recalled.length === 0
          ? {}
          : { context_nodes: [memoryNode(`for ${JSON.stringify(query)}`, found.recalled)] }),
      });
    },
  });
}

/** What the server answers is quoted, within the budget; it is data, like any memory. */
async function recallExternally(
  external: ExternalTool<RecallFields>,
  fields: RecallFields,
  {
    recallTokens,
    ...where
  }: Parameters<typeof callExternalTool>[2] & { readonly recallTokens: number },
): Promise<unknown> {
  const { tool } = external;
  const result = await callExternalTool(external, fields, where);
  const { query, scope } = fields;
  const why = `for ${JSON.stringify(query)}`;
  const { node, left_out } = readAnswer(result, { tool, why, tokens: recallTokens });
  const about = { query, scope, tool_name: tool, recalled_by: result.tool_call_id, left_out };
  const { toolCallId, toolName } = where.context;
  const call = { tool_call_id: toolCallId, tool_name: toolName };
  where.calling?.run.recorder.record("memory.recalled", about, call);
  const cut = left_out === 0 ? "" : ` ${left_out} more lines are omitted; ask more narrowly.`;
  const said =
    node === undefined ? `${tool} found nothing.` : `${tool} has answered; the text follows.${cut}`;
  return toolResult({
    content: [{ type: "text", text: said }],
    data: about,
    ...(node === undefined ? {} : { context_nodes: [node] }),
  });
}

/** The project is the run's, never an argument. */
function listOwners(scope: "user" | "project" | "all", { project }: Roots): MemoryOwner[] {
  if (scope === "project" && project === "") {
    throw new ToolFailure({
      code: "no_project",
      error_class: "setup_required",
      message: 'This run has no project, so there are no memories of one. Use scope "user".',
      recovery: "change_arguments",
    });
  }
  return [
    ...(scope === "project" ? [] : [{ scope: "user" as const }]),
    ...(scope === "user" || project === "" ? [] : [{ scope: "project" as const, project }]),
  ];
}

export function memoryNode(why: string, recalled: readonly RecalledMemory[]): ContextNode {
  const texts = recalled.map(renderMemory).join("\n\n");
  return {
    kind: "memory_context",
    text: `Memories recalled ${why}. ${NOTES_RANK}\n\n${texts}`,
    data: { memories: recalled.map(({ entry }) => ({ id: entry.id, sha256: hashMemory(entry) })) },
  };
}

export function readMemoryHashes(nodes: readonly ConversationNode[]): Set<unknown> {
  const memories = nodes.flatMap(({ kind, data }) => {
    const listed = kind === "memory_context" ? data?.["memories"] : undefined;
    return Array.isArray(listed) ? listed : [];
  });
  return new Set(memories.map((memory) => (memory as { sha256?: unknown } | null)?.sha256));
}

export function hashMemory({ id, content }: MemoryEntry): string {
  return sha256(JSON.stringify([id, content]));
}

function toMemoryRecord({ entry, score, conflicts }: RecalledMemory) {
  const { id, scope, tags, created_at } = entry;
  return { id, scope, tags, created_at, score, conflicts };
}

function renderRecall(
  { recalled, left_out }: Recall,
  again: readonly RecalledMemory[],
  {
    considered,
    unreadable,
    restricted,
  }: { readonly considered: number; readonly unreadable: number; readonly restricted: number },
): string {
  const lines: string[] = [];
  if (recalled.length > 0) {
    lines.push(`${countOf(recalled.length, "memory", "memories")} recalled; the text follows.`);
  } else if (again.length === 0) {
    lines.push(
      considered === 0 && restricted === 0
        ? "There are no memories yet."
        : `None of ${countOf(considered, "memory", "memories")} matches.`,
    );
  }
  if (again.length > 0) {
    const ids = again.map(({ entry }) => entry.id).join(", ");
    lines.push(`In the conversation already: ${ids}.`);
  }
  if (left_out > 0) lines.push(`${left_out} more match; ask more narrowly or raise the limit.`);
  if (restricted > 0) {
    lines.push(
      `${countOf(restricted, "memory is", "memories are")} omitted: restricted by a rule.`,
    );
  }
  if (unreadable > 0) {
    lines.push(
      `${countOf(unreadable, "file", "files")} of the memory cannot be read; tell the user.`,
    );
  }
  return lines.join(" ");
}
