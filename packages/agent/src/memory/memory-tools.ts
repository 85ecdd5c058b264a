// The memory tools as one source (MEM-1, MEM-2, MEM-4). What the user has switched off is excluded, with the reason.

import {
  type ToolSource,
  defineTool,
  messageOf,
  systemClock,
  ToolFailure,
  toolResult,
  type AnyTool,
  type CallIds,
  type Clock,
  type ToolContext,
} from "@soong/core";
import { checkExternalTool, callExternalTool, type ExternalTool } from "./external-tool.ts";
import { RECALL_MEMORY, recallTool, type RecallParts } from "./recall-tool.ts";
import type { FindRun } from "../context/index.ts";
import { makeCandidateId, tagsProblem, writeCandidate, type CandidateRecord } from "./candidate.ts";
import {
  contentProblem,
  MEMORY_LIMITS,
  makeMemoryId,
  sha256,
  type MemoryNote,
  type MemoryOwner,
  type MemoryScope,
} from "./memory-entry.ts";

export interface MemoryToolParts extends RecallParts, Omit<WriteParts, "writing"> {
  /** `memory.enabled` of the config. Default: true. */
  readonly enabled?: boolean;
  /** `memory.write_mode` of the config, with what the mode needs. */
  readonly writing: MemoryWriting | { readonly mode: "disabled" };
}

/** Throws where an external tool is none of a server's. */
export function memoryTools(parts: MemoryToolParts): ToolSource {
  const { enabled = true, writing, external } = parts;
  const source = { id: "memory", kind: "internal" as const };
  if (external !== undefined) checkExternalTool("memory.recall_tool", external.tool);
  if (writing.mode === "external") checkExternalTool("memory.external_tool", writing.tool);
  const exclude = (detail: string, ...names: string[]) =>
    names.map((tool_name) => ({ tool_name, reason: "disabled" as const, detail }));
  if (!enabled) {
    const detail = "memory.enabled is false in the config";
    return { ...source, tools: [], excluded: exclude(detail, RECALL_MEMORY, WRITE_MEMORY) };
  }
  if (writing.mode === "disabled") {
    const detail = 'memory.write_mode is "disabled" in the config';
    return { ...source, tools: [recallTool(parts)], excluded: exclude(detail, WRITE_MEMORY) };
  }
  return { ...source, tools: [recallTool(parts), writeTool({ ...parts, writing })] };
}

// internal.write_memory (MEM-2): an agent asks for something to be remembered. It never writes long-term memory: it leaves a
// candidate in the archive of its run, or hands the text to the tool the user has configured, as a call like any other.

const WRITE_MEMORY = "internal.write_memory";

export type MemoryWriting =
  | {
      readonly mode: "candidate";
      /** `runs/<run-id>/archive` of the run of a call; undefined where runs leave nothing behind. */
      readonly findArchive: (ids: CallIds) => string | undefined;
    }
  /** Given content, scope, tags, an id and, for a project, its path. */
  | ({ readonly mode: "external" } & ExternalTool<WrittenFields>);

export type WrittenFields = {
  readonly id: string;
  readonly content: string;
  readonly scope: MemoryScope;
  readonly project?: string;
  readonly tags: string[];
};

interface WriteParts {
  readonly findRun: FindRun;
  readonly writing: MemoryWriting;
  readonly clock?: Clock;
}

function writeTool(parts: WriteParts): AnyTool {
  const { writing, findRun } = parts;
  return defineTool({
    name: WRITE_MEMORY,
    title: "Write a memory",
    search_hint: "remember note preference decision",
    description:
      writing.mode === "candidate"
        ? "Proposes something to be remembered in later work: a preference of the user, a decision, a fact about the project that took effort to find. It is kept as a candidate; it can be recalled once it has been extracted. No secrets, nothing that the files of the project say."
        : "Hands something to be remembered in later work to the memory the user has configured: a preference of the user, a decision, a fact about the project that took effort to find. No secrets, nothing that the files of the project say.",
    input_schema: {
      type: "object",
      additionalProperties: false,
      required: ["content", "scope"],
      properties: {
        content: {
          type: "string",
          minLength: 1,
          maxLength: MEMORY_LIMITS.contentChars,
          description: "A few sentences that can be understood alone.",
        },
        scope: {
          type: "string",
          enum: ["user", "project"],
          description: "user: holds everywhere; project: is about this project.",
        },
        tags: {
          type: "array",
          maxItems: MEMORY_LIMITS.tags,
          items: { type: "string", minLength: 1, maxLength: MEMORY_LIMITS.tagChars },
          description: "Words to find it by.",
        },
      },
    },
    permission: "readonly",
    concurrency_safe: false,
    destructive: false,
    open_world: false,
    interrupt_behavior: "block",
    tags: ["internal"],
    validate: (input) => {
      const { content, tags = [] } = input;
      const problem = contentProblem(content);
      return problem === undefined ? tagsProblem(tags) : `content ${problem}`;
    },
    handler: async (input, context) => {
      const { content, scope, tags = [] } = input;
      refuseSecrets([content, ...tags], context);
      const owner = resolveNoteOwner(scope, context);
      const note = { content: content.trim(), tags: [...new Set(tags)], owner };
      return writing.mode === "external"
        ? writeExternally(writing, note, { context, calling: findRun(context) })
        : keepCandidate(note, context, writing.findArchive(context), parts);
    },
  });
}

async function writeExternally(
  external: ExternalTool<WrittenFields>,
  { content, tags, owner }: MemoryNote,
  where: Parameters<typeof callExternalTool>[2],
): Promise<unknown> {
  const fields = { content, ...owner, tags: [...tags] };
  // The id is for tools that want a name; a tool that is given the fields as they are does not know it.
  const given =
    external.mapArguments === undefined ? fields : { id: makeMemoryId(owner, content), ...fields };
  const result = await callExternalTool(external, given as WrittenFields, where);
  const { tool_call_id, status } = result;
  const said = { type: "text" as const, text: `${external.tool} has taken it. What it answered:` };
  return toolResult({
    content: [said, ...result.content],
    data: { tool_name: external.tool, tool_call_id, status },
  });
}

async function keepCandidate(
  { content, tags, owner }: MemoryNote,
  context: ToolContext,
  archive: string | undefined,
  { findRun, clock = systemClock() }: WriteParts,
): Promise<unknown> {
  if (archive === undefined) {
    const message = "This run has no archive, so there is nowhere to keep a candidate.";
    throw createSetupFailure("no_archive", message);
  }
  const { sessionId: session_id, runId: run_id, agentId: agent_id, toolCallId } = context;
  const candidate_id = makeCandidateId(context);
  const record: CandidateRecord = {
    version: 1,
    candidate_id,
    session_id,
    run_id,
    agent_id,
    tool_call_id: toolCallId,
    ...owner,
    tags,
    content,
    created_at: new Date(clock.now()).toISOString(),
  };
  await writeCandidate(archive, record).catch((error: unknown) => {
    const message = `The candidate could not be kept: ${messageOf(error)}`;
    throw createSetupFailure("candidate_not_kept", message);
  });
  const about = { candidate_id, ...owner, tags, sha256: sha256(content), chars: content.length };
  const call = { tool_call_id: toolCallId, tool_name: context.toolName };
  findRun(context)?.run.recorder.record("memory.candidate", about, call);
  const text = `Kept as the candidate ${candidate_id}. It is not memory yet: it can be recalled once it has been extracted.`;
  return toolResult({
    content: [{ type: "text", text }],
    data: { candidate_id, scope: owner.scope },
  });
}

function refuseSecrets(texts: readonly string[], { redact }: ToolContext): void {
  if (texts.every((text) => redact(text) === text)) return;
  throw new ToolFailure({
    code: "secret_in_memory",
    error_class: "policy_blocked",
    message:
      "The text holds something that looks like a secret, such as a key or a password. Nothing was kept. Say where the secret is to be found instead of what it is.",
    recovery: "change_arguments",
  });
}

/** The project is the run's, never an argument. */
function resolveNoteOwner(scope: MemoryScope, { roots }: ToolContext): MemoryOwner {
  if (scope === "user") return { scope };
  if (roots.project !== "") return { scope, project: roots.project };
  const message = 'This run has no project. Use scope "user" if it holds everywhere.';
  throw createSetupFailure("no_project", message);
}

function createSetupFailure(code: string, message: string): ToolFailure {
  return new ToolFailure({ code, error_class: "setup_required", message, recovery: "none" });
}
