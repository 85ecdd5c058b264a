import type { JsonObject, JsonValue } from "@soong/core";
import { renderText, type BridgeRun, type HostApprovals } from "../kernel/index.ts";
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
  ClaudePermission,
  ClaudePermissionOptions,
  ClaudeServer,
} from "./host-types.ts";
import { createKernelCalls, type CallProgress } from "./kernel-calls.ts";
import { createKernelServer } from "./kernel-server.ts";

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

export interface UserAnswer {
  readonly approve: boolean;
  readonly reason?: string;
}

export function bridgeClaudeAgent(
  run: BridgeRun,
  options: ClaudeAgentOptions = {},
): ClaudeAgentBridge {
  const { builtIn, approvals, canUseTool: askUser, onProgress, name = "soong" } = options;
  const calls = createKernelCalls(run, approvals, onProgress);
  const { batches } = calls;
  const readCall = createCallReader(name, builtIn);
  const answers = new Map<string, UserAnswer>();
  /** Calls of Claude Code's own tools that the kernel lets through. */
  const allowed = new Set<string>();
  let closing = new AbortController();
  const findApproval = (id: string) => ({ isApproved: answers.get(id)?.approve === true });
  const hidden = builtIn?.tools.map((tool) => tool.name) ?? [];
  const server = createKernelServer(run, calls, { name, hidden, findApproval, onClose });

  return {
    hooks: {
      PreToolUse: [{ ...match(preToolUse), onFailure: "block" }],
      PostToolUse: [match(postToolUse)],
      PostToolUseFailure: [match(postToolUse)],
      PostToolBatch: [match(postToolBatch)],
      UserPromptSubmit: [match(startPrompt)],
    },
    canUseTool,
    server: { type: "sdk", name, instance: server as never, timeout: LONGEST_CALL_MS },
    answer(toolUseId, answer) {
      answers.set(toolUseId, answer);
    },
  };

  // ── before a call ───────────────────────────────────────────────────────────────────────────────

  async function preToolUse(use: ClaudeHookInput, signal: AbortSignal): Promise<ClaudeHookOutput> {
    const call = readCall(use);
    if (call === undefined) return {};
    batches.begin(call.id, use.agent_id ?? "");
    const paused = await pauseForHost(call);
    if (paused !== undefined) return paused;
    if (call.isOwn) return decide("allow");
    const answer = await letThrough(call, signal);
    if (answer.decision === "deny") return decide("deny", answer.reason);
    return decide("allow", undefined, findUpdate(call, use.tool_input, answer.input));
  }

  /** Undefined: the call needs no approval of the host's user, or has it. */
  async function pauseForHost(call: HostToolCall): Promise<ClaudeHookOutput | undefined> {
    if (approvals === undefined || batches.findStop(call.id) !== undefined) return undefined;
    const answer = answers.get(call.id);
    if (answer?.approve === true) return undefined;
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

  async function letThrough(call: HostToolCall, signal: AbortSignal) {
    const { id, name: canonical, arguments: input } = call;
    const answer = await (builtIn as ClaudeTools).external.before(
      calls.gate,
      { id, name: canonical, arguments: input },
      { signal: AbortSignal.any([signal, closing.signal]), ...findApproval(id) },
    );
    if (answer.decision === "allow") allowed.add(id);
    return answer;
  }

  /** What a hook of the kernel has changed. */
  function findUpdate(
    { toolName }: HostToolCall,
    before: unknown,
    after: JsonObject,
  ): Record<string, unknown> | undefined {
    const input = builtIn?.toInput(toolName, after) ?? after;
    return JSON.stringify(input) === JSON.stringify(before) ? undefined : input;
  }

  async function canUseTool(
    toolName: string,
    input: Record<string, unknown>,
    permission: ClaudePermissionOptions,
  ): Promise<ClaudePermission | null> {
    const { toolUseID: tool_use_id, signal, mcpServer: mcp_server } = permission;
    const call = readCall({ tool_name: toolName, tool_use_id, tool_input: input, mcp_server });
    // Questions to the user are answered there, whatever the kernel says.
    if (call === undefined || toolName === "AskUserQuestion") {
      return askUser?.(toolName, input, permission as never) ?? NO_ONE_TO_ASK;
    }
    if (approvals !== undefined && askUser !== undefined && !allowed.has(call.id)) {
      const said = await askUser(toolName, input, permission as never);
      if (said === null) return said;
      const approve = said.behavior === "allow";
      answers.set(call.id, { approve });
      if (!approve) {
        return { behavior: "deny", message: renderText(await calls.refuse(call, said.message)) };
      }
    }
    // The kernel judges its own tools when they are called.
    if (call.isOwn || allowed.has(call.id)) return { behavior: "allow", updatedInput: input };
    const answer = await letThrough(call, signal);
    if (answer.decision === "deny") return { behavior: "deny", message: answer.reason };
    return { behavior: "allow", updatedInput: findUpdate(call, input, answer.input) ?? input };
  }

  // ── after a call ────────────────────────────────────────────────────────────────────────────────

  async function postToolUse(use: ClaudeHookInput): Promise<ClaudeHookOutput> {
    const { tool_use_id: id = "", tool_response, error } = use;
    if (!allowed.delete(id)) return {};
    const text = error ?? renderResponse(tool_response);
    const outcome = await builtIn?.external.after(id, { text, is_error: error !== undefined });
    if (outcome === undefined) return {};
    const added = renderText({ ...outcome, result: { ...outcome.result, content: [] } });
    const context = added === "" ? {} : { additionalContext: added };
    if (error !== undefined) {
      return { hookSpecificOutput: { hookEventName: "PostToolUseFailure", ...context } };
    }
    // Without secrets, and in the form that the host needs.
    const clean = run.redactor.value(tool_response as JsonValue);
    const isClean = JSON.stringify(clean) === JSON.stringify(tool_response);
    const changed = isClean ? {} : { updatedToolOutput: clean };
    return { hookSpecificOutput: { hookEventName: "PostToolUse", ...context, ...changed } };
  }

  async function postToolBatch(use: ClaudeHookInput): Promise<ClaudeHookOutput> {
    const { tool_calls = [], agent_id = "", cwd = "" } = use;
    const explained: string[] = [];
    for (const call of tool_calls) {
      const { tool_use_id: id, tool_response } = call;
      // Let through by the kernel, and refused by the host after that.
      if (allowed.delete(id)) {
        await builtIn?.external.after(id, { text: renderResponse(tool_response), is_error: true });
      }
      if (!batches.hasBegun(id)) explained.push(...(await explainRefused(call, cwd)));
      answers.delete(id);
    }
    batches.end(agent_id);
    if (explained.length === 0) return {};
    const additionalContext = explained.join("\n");
    return { hookSpecificOutput: { hookEventName: "PostToolBatch", additionalContext } };
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

  async function startPrompt(): Promise<ClaudeHookOutput> {
    batches.clear();
    return {};
  }

  function onClose(): void {
    closing.abort(new Error("the host has closed the session"));
    closing = new AbortController();
    allowed.clear();
    batches.clear();
  }
}

/** The kernel ends its own calls, and users may take their time: the host is not to end either before. */
const LONGEST_CALL_MS = 24 * 60 * 60 * 1000;

const NO_ONE_TO_ASK: ClaudePermission = {
  behavior: "deny",
  message: "This requires approval, and there is no one to ask.",
};

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
