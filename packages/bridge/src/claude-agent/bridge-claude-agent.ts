import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "@soong/core";
import { checkRun, renderText, type BridgeRun, type HostApprovals } from "../kernel/index.ts";
import type { ClaudeTools } from "./built-in-tools.ts";
import { createCallReader, type HostToolCall } from "./host-calls.ts";
import type {
  AskClaudeUser,
  ClaudeBatchCall,
  ClaudeCanUseTool,
  ClaudeHookInput,
  ClaudeHookMatcher,
  ClaudeHookOutput,
  ClaudeHooks,
  ClaudeServer,
} from "./host-types.ts";
import { createKernelCalls, type CallProgress } from "./kernel-calls.ts";
import { createKernelServer } from "./kernel-server.ts";
import { createOpenCalls } from "./open-calls.ts";
import { createCanUseTool } from "./permission-requests.ts";
import { createUserAnswers, type AnsweredCall, type UserAnswer } from "./user-answers.ts";

export interface ClaudeAgentOptions {
  /** What `createClaudeTools` made, if its tools are registered: then Claude Code's own tools are judged and recorded, too. */
  readonly builtIn?: ClaudeTools;
  /**
   * Approval is by the host; default: the session's `ask` answers. The host asks `canUseTool`; without that, the query ends with
   * the call that waits (`deferred_tool_use`), and `answer` is for the next one, which resumes the session.
   */
  readonly approvals?: HostApprovals;
  /** Your own, if you have one: asked where Claude Code itself, or the host's approval, requires an answer. */
  readonly canUseTool?: AskClaudeUser;
  /** Progress of the kernel's tools: Claude Code does not pass it on. */
  readonly onProgress?: (progress: CallProgress) => void;
  /** The key of the server in `mcpServers`. Default: `soong`. */
  readonly name?: string;
}

export interface ClaudeAgentBridge {
  readonly hooks: ClaudeHooks;
  readonly canUseTool: ClaudeCanUseTool;
  readonly server: ClaudeServer;
  /** What the user said to a call that ended a query, before the next one resumes the session. */
  answer(toolUseId: string, answer: UserAnswer): void;
}

export function bridgeClaudeAgent(
  run: BridgeRun,
  options: ClaudeAgentOptions = {},
): ClaudeAgentBridge {
  checkRun(run, "bridgeClaudeAgent");
  const { builtIn, approvals, canUseTool: askUser, onProgress, name = "soong" } = options;
  const calls = createKernelCalls(run, approvals, onProgress);
  const { batches } = calls;
  const readCall = createCallReader(name, builtIn);
  const answers = createUserAnswers();
  const openCalls = createOpenCalls(run, calls, builtIn);
  const parts = { run, calls, openCalls, answers, readCall, approvals, askUser };
  const hidden = builtIn?.tools.map((tool) => tool.name) ?? [];
  const takeApproval = (call: AnsweredCall) => answers.takeApproval(call);
  const server = createKernelServer(run, calls, { name, hidden, takeApproval, onClose });
  /** Sessions of the host whose next request to the model would contain a known secret. */
  const leaking = new Set<string>();

  return {
    hooks: {
      PreToolUse: [{ ...match(preToolUse), onFailure: "block" }],
      PostToolUse: [match(postToolUse)],
      PostToolUseFailure: [match(postToolUse)],
      PostToolBatch: [match(postToolBatch)],
      UserPromptSubmit: [match(startPrompt)],
    },
    canUseTool: createCanUseTool(parts),
    server: { type: "sdk", name, instance: server as never, timeout: LONGEST_CALL_MS },
    answer: (toolUseId, answer) => answers.give(toolUseId, answer),
  };

  // ── before a call ───────────────────────────────────────────────────────────────────────────────

  async function preToolUse(use: ClaudeHookInput, signal: AbortSignal): Promise<ClaudeHookOutput> {
    const call = readCall(use);
    if (call === undefined) return {};
    const { agent_id: agent = "", tool_input } = use;
    batches.begin(call.id, agent);
    const paused = await pauseForHost(call);
    if (paused !== undefined) return paused;
    if (call.isOwn) return decide("allow");
    const isApproved = answers.takeApproval(call);
    const answer = await openCalls.open(call, { agent, signal, isApproved });
    if (answer.decision === "deny") return decide("deny", answer.reason);
    // A hook of the kernel may have changed it.
    const isSame = isDeepStrictEqual(answer.input, tool_input);
    return decide("allow", undefined, isSame ? undefined : answer.input);
  }

  /** Undefined: the call needs no approval of the host's user, or has it. */
  async function pauseForHost(call: HostToolCall): Promise<ClaudeHookOutput | undefined> {
    if (approvals === undefined || batches.findStop(call.id) !== undefined) return undefined;
    const answer = answers.take(call.id);
    if (answer?.approve === true) {
      answers.approve(call);
      return undefined;
    }
    if (answer !== undefined) {
      return decide("deny", renderText(await calls.refuse(call, answer.reason)));
    }
    const needsIt = await approvals.needsApproval(run, call).catch(() => false);
    if (!needsIt) return undefined;
    if (askUser !== undefined) return decide("ask", `${call.toolName} requires approval`);
    if (batches.pause(call.id)) return decide("defer");
    // The host ends with one call that waits, and would lose the others.
    const reason = "another call of this answer waits for approval; call it again";
    return decide("deny", renderText(await calls.skip(call, reason)));
  }

  // ── after a call ────────────────────────────────────────────────────────────────────────────────

  async function postToolUse(use: ClaudeHookInput): Promise<ClaudeHookOutput> {
    const call = readCall(use);
    if (call === undefined || call.isOwn) return {};
    const { tool_input: input, tool_response, error } = use;
    const text = error ?? renderResponse(tool_response);
    const outcome = await openCalls.end(call.id, { text, is_error: error !== undefined, input });
    const added = outcome && renderText({ ...outcome, result: { ...outcome.result, content: [] } });
    const context = added === undefined || added === "" ? {} : { additionalContext: added };
    if (error !== undefined) {
      return { hookSpecificOutput: { hookEventName: "PostToolUseFailure", ...context } };
    }
    // Without secrets, and in the form that the host needs.
    const clean = run.redactor.value(tool_response as JsonValue);
    const changed = isDeepStrictEqual(clean, tool_response) ? {} : { updatedToolOutput: clean };
    return { hookSpecificOutput: { hookEventName: "PostToolUse", ...context, ...changed } };
  }

  async function postToolBatch(use: ClaudeHookInput): Promise<ClaudeHookOutput> {
    const { tool_calls = [], agent_id = "", cwd = "" } = use;
    const explained: string[] = [];
    for (const call of tool_calls) {
      const { tool_use_id: id, tool_response } = call;
      // Let through by the kernel, and refused by the host after that.
      await openCalls.end(id, { text: renderResponse(tool_response), is_error: true });
      if (!batches.hasBegun(id)) explained.push(...(await explainRefused(call, cwd)));
      answers.forget(id);
    }
    batches.end(agent_id);
    if (tool_calls.some(showsSecret)) return stopBeforeModel(use);
    if (explained.length === 0) return {};
    const additionalContext = explained.join("\n");
    return { hookSpecificOutput: { hookEventName: "PostToolBatch", additionalContext } };
  }

  /** The host lets no hook change what a tool that failed has printed. */
  function showsSecret({ tool_name, tool_response }: ClaudeBatchCall): boolean {
    const isOther = builtIn !== undefined && !tool_name.startsWith(`mcp__${name}__`);
    return isOther && run.redactor.finds(renderResponse(tool_response), "known_values");
  }

  function stopBeforeModel({ session_id = "", agent_id }: ClaudeHookInput): ClaudeHookOutput {
    // Only the agent itself has seen it.
    if (agent_id === undefined) leaking.add(session_id);
    return { continue: false, stopReason: LEAKING };
  }

  /** The host has refused it on its own, as unknown or invalid: the kernel records that, and explains more. */
  async function explainRefused(use: ClaudeBatchCall, cwd: string): Promise<string[]> {
    const isNamedOurs = use.tool_name.startsWith(`mcp__${name}__`);
    const mcp_server = isNamedOurs ? { name, source: "sdk" } : undefined;
    const call = readCall({ ...use, cwd, mcp_server });
    if (call === undefined) return [];
    const explained = await run.explain(call).catch(() => undefined);
    // Anything else would be executed.
    if (explained?.outcome !== "refused") return [];
    return [`${call.toolName}: ${renderText(await calls.execute(call))}`];
  }

  async function startPrompt({ session_id = "" }: ClaudeHookInput): Promise<ClaudeHookOutput> {
    if (leaking.has(session_id)) return { decision: "block", reason: LEAKING };
    // The main agent is at work on nothing else; agents in the background may be.
    await openCalls.endAll("");
    batches.clear();
    return {};
  }

  function onClose(): void {
    openCalls.close();
    batches.clear();
  }
}

const LEAKING =
  "A tool that failed has printed a known secret, and Claude Code would send it to its model. Start a new session.";

/** The kernel ends its own calls, and users may take their time: the host is not to end either before. */
const LONGEST_CALL_MS = 24 * 60 * 60 * 1000;

function match(
  hook: (use: ClaudeHookInput, signal: AbortSignal) => Promise<ClaudeHookOutput>,
): ClaudeHookMatcher {
  return {
    hooks: [(use, _toolUseId, { signal }) => hook(use, signal)],
    timeout: LONGEST_CALL_MS / 1000,
  };
}

function decide(
  permissionDecision: "allow" | "deny" | "ask" | "defer",
  reason?: string,
  updatedInput?: Record<string, unknown>,
): ClaudeHookOutput {
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision,
      ...(reason !== undefined && { permissionDecisionReason: reason }),
      ...(updatedInput !== undefined && { updatedInput }),
    },
  };
}

function renderResponse(response: unknown): string {
  return typeof response === "string" ? response : (JSON.stringify(response) ?? "");
}
