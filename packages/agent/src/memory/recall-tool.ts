// Recalling memories: which of them a question brings back, internal.recall_memory (MEM-1, MEM-4), and what a run begins with.
// Memories are looked for in the home or asked of the tool the user has configured, and come into the conversation once per
// content. Nothing is changed.

import {
  countOf,
  createSearchIndex,
  defineTool,
  ToolFailure,
  toolResult,
  type AnyTool,
  type ContextNode,
  type ConversationNode,
  type FactData,
  type JsonObject,
  type Places,
  type Roots,
  type ToolResult,
} from "@soong/core";
import { firstChars } from "@soong/schema";
import { estimateTextTokens, listNodesInView, type FindRun } from "../context/index.ts";
import {
  callExternalTool,
  checkExternalTool,
  readAnswer,
  type ExternalTool,
} from "./external-tool.ts";
import { NOTES_RANK, sha256, type MemoryEntry, type MemoryOwner } from "./memory-entry.ts";
import { createMemoryFilter, listRecallTargets, readMemories } from "./memory-folder.ts";

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
const MAX_LIMIT = 20;
const MAX_QUERY_CHARS = 1_000;
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
      const { roots } = context;
      const calling = findRun(context);
      const record = (data: FactData<"memory.recalled">): void => {
        const call = { tool_call_id: context.toolCallId, tool_name: context.toolName };
        calling?.run.recorder.record("memory.recalled", data, call);
      };
      if (external !== undefined) {
        const { tool } = external;
        const fields = toRecallFields({ query, scope, limit }, roots.project);
        const result = await callExternalTool(external, fields, { context, calling });
        const why = `for ${JSON.stringify(query)}`;
        const { node, left_out } = readAnswer(result, { tool, why, tokens: recallTokens });
        const recalled_by = result.tool_call_id;
        const about = { query, scope, tool_name: tool, recalled_by, left_out };
        record(about);
        const cut = left_out === 0 ? "" : ` ${left_out} more lines are omitted; ask more narrowly.`;
        const text = node
          ? `${tool} has answered; the text follows.${cut}`
          : `${tool} found nothing.`;
        return toolResult({
          content: [{ type: "text", text }],
          data: about,
          context_nodes: node && [node],
        });
      }
      const read = await readMemories(
        folder,
        listOwners(scope, roots),
        createMemoryFilter(context, { wasJudged: true }),
      );
      const { entries, problems, restricted } = read;
      const known = readMemoryHashes(calling?.path() ?? []);
      const isKnown = (entry: MemoryEntry): boolean => known.has(hashMemory(entry));
      const fresh = entries.filter((entry) => !isKnown(entry));
      const found = recall(fresh, { query, limit, budgetTokens: recallTokens });
      const budgetTokens = Number.POSITIVE_INFINITY;
      const again = recall(entries.filter(isKnown), { query, limit, budgetTokens }).recalled;
      const about = {
        query,
        scope,
        memories: found.recalled.map(({ entry: { id }, score }) => ({ id, score })),
        in_the_conversation: again.map(({ entry: { id } }) => id),
        considered: entries.length,
        left_out: found.left_out,
        tokens: found.tokens,
      };
      record(about);
      const unreadable = problems.length;
      const { recalled } = found;
      return toolResult({
        content: [
          {
            type: "text",
            text: renderRecall(found, again, entries.length, unreadable, restricted),
          },
        ],
        data: {
          ...about,
          memories: recalled.map(({ entry: { id, scope: of, tags, created_at }, ...rest }) => ({
            id,
            scope: of,
            tags,
            created_at,
            ...rest,
          })),
          unreadable,
          restricted: restricted === 0 ? undefined : restricted,
        },
        context_nodes:
          recalled.length === 0
            ? undefined
            : [memoryNode(`for ${JSON.stringify(query)}`, recalled)],
      });
    },
  });
}

function toRecallFields(fields: Omit<RecallFields, "project">, project: string): RecallFields {
  return project === "" ? fields : { ...fields, project };
}

/** The project is the run's, never an argument. */
function listOwners(scope: "user" | "project" | "all", { project }: Pick<Roots, "project">) {
  if (scope === "project" && project === "") {
    throw new ToolFailure({
      code: "no_project",
      error_class: "setup_required",
      message: 'This run has no project, so there are no memories of one. Use scope "user".',
      recovery: "change_arguments",
    });
  }
  const owners: MemoryOwner[] = [];
  if (scope !== "project") owners.push({ scope: "user" });
  if (scope !== "user" && project !== "") owners.push({ scope: "project", project });
  return owners;
}

function memoryNode(why: string, recalled: readonly RecalledMemory[]): ContextNode {
  const texts = recalled.map(renderMemory).join("\n\n");
  return {
    kind: "memory_context",
    text: `Memories recalled ${why}. ${NOTES_RANK}\n\n${texts}`,
    data: { memories: recalled.map(({ entry }) => ({ id: entry.id, sha256: hashMemory(entry) })) },
  };
}

/** Of the memories that a conversation has. */
function readMemoryHashes(path: readonly ConversationNode[]): Set<unknown> {
  const memories = listNodesInView(path).flatMap(({ kind, data }) => {
    const listed = kind === "memory_context" ? data?.["memories"] : undefined;
    return Array.isArray(listed) ? listed : [];
  });
  return new Set(memories.map((memory) => (memory as { sha256?: unknown } | null)?.sha256));
}

function hashMemory({ id, content }: MemoryEntry): string {
  return sha256(JSON.stringify([id, content]));
}

function renderRecall(
  { recalled, left_out }: Recall,
  again: readonly RecalledMemory[],
  considered: number,
  unreadable: number,
  restricted: number,
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
    const count = countOf(restricted, "memory is", "memories are");
    lines.push(`${count} omitted: restricted by a rule.`);
  }
  if (unreadable > 0) {
    const count = countOf(unreadable, "file", "files");
    lines.push(`${count} of the memory cannot be read; tell the user.`);
  }
  return lines.join(" ");
}

// Which memories a question brings back: the most relevant first, the newer of equals, as many as the limit and the budget have
// room for. Pure.

export interface RecalledMemory {
  readonly entry: MemoryEntry;
  /** Between 0 and 1. */
  readonly score: number;
  /** Ids of memories that say something else. */
  readonly conflicts: readonly string[];
}

export interface Recall {
  readonly recalled: readonly RecalledMemory[];
  /** Matches that there was no room for. */
  readonly left_out: number;
  readonly tokens: number;
}

interface RecallRequest {
  readonly query: string;
  readonly limit: number;
  readonly budgetTokens: number;
}

export function recall(
  entries: readonly MemoryEntry[],
  { query, limit, budgetTokens }: RecallRequest,
  /** Those that come after the matches. */
  others: readonly MemoryEntry[] = [],
): Recall {
  const matches = rankMemories(entries, query);
  const matched = new Set(matches.map(({ entry }) => entry));
  const rest = others.filter((entry) => !matched.has(entry)).map((entry) => ({ entry, score: 0 }));
  const recalled: RecalledMemory[] = [];
  let tokens = 0;
  for (const { entry, score } of [...matches, ...rest]) {
    if (recalled.length >= limit) break;
    const conflicts = matched.has(entry) ? findConflicts(entry, entries) : entry.conflicts_with;
    const memory = { entry, score, conflicts };
    const size = estimateTextTokens(renderMemory(memory));
    // A shorter one further down may still fit.
    if (tokens + size > budgetTokens) continue;
    tokens += size;
    recalled.push(memory);
  }
  return { recalled, left_out: matches.length - recalled.length, tokens };
}

/** As the model reads it: its text is quoted line by line, so that nothing in it looks like another memory or a rule. */
export function renderMemory({ entry, conflicts }: RecalledMemory): string {
  const about = [
    entry.id,
    entry.scope,
    `of ${entry.created_at.slice(0, 10)}`,
    ...(entry.tags.length === 0 ? [] : [`tags ${entry.tags.join(", ")}`]),
    ...(conflicts.length === 0 ? [] : [`contradicted by or contradicting ${conflicts.join(", ")}`]),
  ].join("; ");
  const lines = entry.content.split(/\r\n|\n|\r/);
  return [`[${about}]`, ...lines.map((line) => `> ${line}`)].join("\n");
}

interface Match {
  readonly entry: MemoryEntry;
  readonly score: number;
}

/** The words of long ones past the first few hundred count for little, as in a tool's description. */
const CHARS_IN_FULL = 2_400;

function rankMemories(entries: readonly MemoryEntry[], query: string): Match[] {
  const named = new Map(entries.map((entry, i) => [String.fromCodePoint(UNWORDED + i), entry]));
  const index = createSearchIndex(
    Array.from(named, ([name, { content, tags }]) => ({
      name,
      search_hint: tags.join(" "),
      description: content.slice(0, CHARS_IN_FULL),
      parameter_text: content.slice(CHARS_IN_FULL),
    })),
  );
  const matches = index.search(query, { limit: entries.length });
  return matches
    .flatMap(({ tool_name, score }) => {
      const entry = named.get(tool_name);
      return entry === undefined ? [] : [{ entry, score }];
    })
    .toSorted((a, b) => b.score - a.score || newerFirst(a.entry, b.entry));
}

/** Characters without a meaning, as names for the index: nothing that is asked for should match a name. */
const UNWORDED = 0xf_0000;

function newerFirst(a: MemoryEntry, b: MemoryEntry): number {
  const [left, right] = [Date.parse(a.created_at), Date.parse(b.created_at)];
  return right - left || (a.id < b.id ? -1 : 1);
}

/** Written down on one side only. */
function findConflicts({ id, conflicts_with }: MemoryEntry, all: readonly MemoryEntry[]): string[] {
  const there = all.filter(
    (other) => conflicts_with.includes(other.id) || other.conflicts_with.includes(id),
  );
  return [...new Set(there.map((other) => other.id))];
}

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
  return async (prompt, path, { places }) => {
    const isExcluded = createMemoryFilter(places, { wasJudged: false });
    const { entries } = await readMemories(folder, listOwners("all", { project }), isExcluded);
    const known = readMemoryHashes(path);
    const fresh = entries.filter((entry) => !known.has(hashMemory(entry)));
    const ofProject = fresh.filter(({ scope }) => scope === "project").toSorted(newerFirst);
    const request = { query: prompt, limit: MAX_LIMIT, budgetTokens: tokens };
    const { recalled, tokens: used } = recall(fresh, request, ofProject);
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
    const query = firstChars(prompt.trim(), MAX_QUERY_CHARS);
    const fields = toRecallFields({ query, scope: "all", limit: MAX_LIMIT }, project);
    const result = await run.call(tool, mapArguments(fields));
    if (result === undefined) return undefined;
    const answer = readAnswer(result, { tool, why: AT_START, tokens });
    const { node, left_out, tokens: used } = answer;
    const isKnown = listNodesInView(path).some(
      ({ kind, data }) => kind === "memory_context" && data?.["sha256"] === node?.data?.["sha256"],
    );
    if (node === undefined || isKnown) return undefined;
    const recalled = { tool_name: tool, recalled_by: result.tool_call_id };
    return { node, about: { at: "start", ...recalled, left_out, tokens: used } };
  };
}
