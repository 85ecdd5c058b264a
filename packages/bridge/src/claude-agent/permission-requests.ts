// The host's permission requests. They come where the kernel wants the host to ask its user, and where Claude Code does on its
// own: by its rules, in plan mode, and at the end of a plan.

import { isDeepStrictEqual } from "node:util";
import { renderText, type BridgeRun, type HostApprovals } from "../kernel/index.ts";
import type { HostToolCall, ReadHostCall } from "./host-calls.ts";
import type {
  AskClaudeUser,
  ClaudeAnswer,
  ClaudeCanUseTool,
  ClaudePermission,
  ClaudePermissionOptions,
} from "./host-types.ts";
import type { KernelCalls } from "./kernel-calls.ts";
import type { OpenCalls } from "./open-calls.ts";
import type { UserAnswers } from "./user-answers.ts";

export interface PermissionParts {
  readonly run: BridgeRun;
  readonly calls: KernelCalls;
  readonly openCalls: OpenCalls;
  readonly answers: UserAnswers;
  readonly readCall: ReadHostCall;
  readonly approvals: HostApprovals | undefined;
  /** The user's own callback. */
  readonly askUser: AskClaudeUser | undefined;
}

type Input = Record<string, unknown>;

export function createCanUseTool(parts: PermissionParts): ClaudeCanUseTool {
  const { run, calls, openCalls, answers, readCall, approvals, askUser } = parts;
  return canUseTool;

  async function canUseTool(
    toolName: string,
    input: Input,
    options: ClaudePermissionOptions,
  ): Promise<ClaudePermission | null> {
    const { toolUseID: tool_use_id, mcpServer: mcp_server } = options;
    const readInput = (tool_input: Input) =>
      readCall({ tool_name: toolName, tool_use_id, tool_input, mcp_server });
    const call = readInput(input);
    if (call === undefined || toolName === "AskUserQuestion") {
      return answerQuestion(toolName, input, options);
    }
    if (await isAnswered(call)) return { behavior: "allow", updatedInput: input };
    // Without its hook, the kernel has not judged it before.
    if (approvals === undefined && !call.isOwn && openCalls.find(call.id) === undefined) {
      return judge(call, { behavior: "allow" }, options);
    }
    if (askUser === undefined) return deny(await refuse(call, NO_ONE));
    await bindToPlan(call);
    const said = await askUser(toolName, input, options as never);
    if (said === null) return null;
    if (said.behavior === "deny") return passOn(said, await refuse(call, said.message));
    const { updatedInput = input } = said;
    const approved = readInput(updatedInput) ?? call;
    const isChanged = !isDeepStrictEqual(updatedInput, input);
    if (openCalls.find(call.id) !== undefined) {
      if (isChanged) return deny(await refuse(call, describeChange(updatedInput)));
      return passOn(said, updatedInput);
    }
    if (isChanged) await bindToPlan(approved);
    if (approvals !== undefined) answers.approve(approved);
    // The kernel judges its own tools when they are called.
    return call.isOwn ? passOn(said, updatedInput) : judge(approved, said, options);
  }

  /** Its user has approved this very call, or the kernel is going to ask. */
  async function isAnswered(call: HostToolCall): Promise<boolean> {
    if (!call.isOwn) return openCalls.find(call.id)?.isApproved === true;
    if (approvals !== undefined) return answers.isApproved(call);
    const explained = await run.explain(call).catch(() => undefined);
    return explained?.outcome === "ask" || explained?.outcome === "refused";
  }

  /** An approval holds for what the call would do now. */
  async function bindToPlan(call: HostToolCall): Promise<void> {
    await approvals?.needsApproval(run, call).catch(() => false);
  }

  async function judge(
    call: HostToolCall,
    said: Extract<ClaudeAnswer, { behavior: "allow" }>,
    { agentID: agent = "", signal }: ClaudePermissionOptions,
  ): Promise<ClaudePermission> {
    const isApproved = answers.takeApproval(call);
    const answer = await openCalls.open(call, { agent, signal, isApproved });
    return answer.decision === "deny" ? deny(answer.reason) : passOn(said, answer.input);
  }

  /** On record, and the text for the model. */
  async function refuse(call: HostToolCall, reason: string | undefined): Promise<string> {
    const text = reason ?? "The user refused this call.";
    const ended = await openCalls.end(call.id, { text, is_error: true });
    return ended === undefined ? renderText(await calls.refuse(call, reason)) : text;
  }

  /** A question to the user is answered by its own callback. The answer is in the input that the tool gets. */
  async function answerQuestion(
    toolName: string,
    input: Input,
    options: ClaudePermissionOptions,
  ): Promise<ClaudePermission | null> {
    const said = (await askUser?.(toolName, input, options as never)) ?? undefined;
    if (askUser === undefined) return deny(NO_ONE);
    if (said === undefined) return null;
    if (said.behavior === "deny") return passOn(said, said.message);
    const { updatedInput = input } = said;
    const open = openCalls.find(options.toolUseID);
    if (open !== undefined) open.input = updatedInput;
    return passOn(said, updatedInput);
  }
}

const NO_ONE = "This requires approval, and there is no one to ask.";

/** Claude Code has asked after the kernel had judged the call, and the kernel judges a call once. */
function describeChange(input: Input): string {
  return `The user changed the input of this call. Call it again with ${JSON.stringify(input)}`;
}

function deny(message: string): ClaudePermission {
  return { behavior: "deny", message };
}

/** With what else the user's callback has said, such as rules for Claude Code or an interrupt. */
function passOn(said: ClaudeAnswer, result: string | Input): ClaudePermission {
  const changed = typeof result === "string" ? { message: result } : { updatedInput: result };
  return { ...said, ...changed } as ClaudePermission;
}
