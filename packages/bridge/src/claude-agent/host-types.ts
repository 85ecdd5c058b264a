// What the Claude Agent SDK calls back with and what it takes, as far as it is used here. Assignable to its own types, so that
// the bridge compiles without it.

export interface ClaudeHookInput {
  readonly hook_event_name: string;
  readonly session_id?: string;
  readonly cwd?: string;
  readonly agent_id?: string;
  readonly tool_name?: string;
  readonly tool_use_id?: string;
  readonly tool_input?: unknown;
  readonly tool_response?: unknown;
  readonly error?: string;
  readonly mcp_server?: { readonly name: string; readonly source: string };
  readonly tool_calls?: readonly ClaudeBatchCall[];
}

export interface ClaudeBatchCall {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: unknown;
  readonly tool_response?: unknown;
}

export type ClaudeHookOutput = {
  /** The host does not ask its model again. */
  continue?: false;
  stopReason?: string;
  /** A prompt is not taken. */
  decision?: "block";
  reason?: string;
  hookSpecificOutput?:
    | {
        hookEventName: "PreToolUse";
        permissionDecision: "allow" | "deny" | "ask" | "defer";
        permissionDecisionReason?: string;
        updatedInput?: Record<string, unknown>;
      }
    | { hookEventName: "PostToolUse"; additionalContext?: string; updatedToolOutput?: unknown }
    | { hookEventName: "PostToolUseFailure" | "PostToolBatch"; additionalContext?: string };
};

export type ClaudeHook = (
  input: ClaudeHookInput,
  toolUseId: string | undefined,
  options: { signal: AbortSignal },
) => Promise<ClaudeHookOutput>;

export interface ClaudeHookMatcher {
  hooks: ClaudeHook[];
  /** In seconds. */
  timeout: number;
  onFailure?: "block";
}

export type ClaudeHooks = Record<
  "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" | "UserPromptSubmit",
  ClaudeHookMatcher[]
>;

/** What your own `canUseTool` answers. */
export type ClaudeAnswer =
  | {
      behavior: "allow";
      updatedInput?: Record<string, unknown>;
      updatedPermissions?: readonly object[];
    }
  | { behavior: "deny"; message: string; interrupt?: boolean };

/** The same for the SDK, whose type for rules is not known here: they are passed on as they are. */
export type ClaudePermission =
  | { behavior: "allow"; updatedInput?: Record<string, unknown>; updatedPermissions?: never[] }
  | { behavior: "deny"; message: string; interrupt?: boolean };

export interface ClaudePermissionOptions {
  readonly signal: AbortSignal;
  readonly toolUseID: string;
  readonly agentID?: string;
  readonly mcpServer?: { readonly name: string; readonly source: string };
}

export type ClaudeCanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: ClaudePermissionOptions,
) => Promise<ClaudePermission | null>;

/** Your own `canUseTool`. It gets the options of the SDK as they are; null if it answers in another way. */
export type AskClaudeUser = (
  toolName: string,
  input: Record<string, unknown>,
  options: never,
) => Promise<ClaudeAnswer | null>;

/** For `options.mcpServers`, under its own name. */
export interface ClaudeServer {
  type: "sdk";
  name: string;
  /** The SDK's type for it is a class with private members, to which no other type is assignable. */
  instance: never;
  timeout: number;
}
