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
  createSearchIndex,
  type FactData,
  type JsonObject,
  type Places,
  type ToolResult,
} from "@soong/core";
import { firstChars } from "@soong/schema";
import { listNodesInView, type FindRun, estimateTextTokens } from "../context/index.ts";
import {
  readAnswer,
  callExternalTool,
  type ExternalTool,
  checkExternalTool,
} from "./external-tool.ts";
import { NOTES_RANK, sha256, type MemoryEntry, type MemoryOwner } from "./memory-entry.ts";
import { readMemories, createMemoryFilter, listRecallTargets } from "./memory-folder.ts";

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

function memoryNode(why: string, recalled: readonly RecalledMemory[]): ContextNode {
  const texts = recalled.map(renderMemory).join("\n\n");
  return {
    kind: "memory_context",
    text: `Memories recalled ${why}. ${NOTES_RANK}\n\n${texts}`,
    data: { memories: recalled.map(({ entry }) => ({ id: entry.id, sha256: hashMemory(entry) })) },
  };
}

function readMemoryHashes(nodes: readonly ConversationNode[]): Set<unknown> {
  const memories = nodes.flatMap(({ kind, data }) => {
    const listed = kind === "memory_context" ? data?.["memories"] : undefined;
    return Array.isArray(listed) ? listed : [];
  });
  return new Set(memories.map((memory) => (memory as { sha256?: unknown } | null)?.sha256));
}

function hashMemory({ id, content }: MemoryEntry): string {
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

// Which memories a question brings back: the most relevant first, the newer of equals, as many as the limit and the budget
// have room for. Pure.

interface RecalledMemory {
  readonly entry: MemoryEntry;
  /** Between 0 and 1. */
  readonly score: number;
  /** Ids of memories that say something else. */
  readonly conflicts: readonly string[];
}

interface Recall {
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

export function recall(entries: readonly MemoryEntry[], request: RecallRequest): Recall {
  const { query, limit, budgetTokens } = request;
  const matches = rankMemories(entries, query);
  const recalled: RecalledMemory[] = [];
  let tokens = 0;
  for (const { entry, score } of matches) {
    if (recalled.length >= limit) break;
    const memory = { entry, score, conflicts: findConflicts(entry, entries) };
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

// What a run begins with (MEM-4): memories that fit the prompt, then those of the project, the newest first, within a
// budget. Read from the home, without a call, or asked of the external memory with one; what is in the conversation already is
// not repeated.

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
