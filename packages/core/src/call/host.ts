// What a call needs from the run it is part of, and what a run has of its turns. Everything outside comes in here.

import type { Hooks } from "../hook/run-hooks.ts";
import type {
  ArtifactStore,
  Clock,
  ConversationNode,
  FactData,
  IdSource,
  Recorder,
  Redactor,
} from "../journal/index.ts";
import type { Grants, Judgement, PermissionFacts, Policy } from "../permission/index.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import type { Registry } from "../registry/registry.ts";
import type { MappingRules } from "../result/map-result.ts";
import type { ModelTools } from "../surface/model-tools.ts";
import type { Role } from "../surface/ceiling.ts";
import type { SearchAnswer } from "../surface/search-deferred.ts";
import type { Surface } from "../surface/surface.ts";
import type {
  Effects,
  ElicitationAnswer,
  ElicitationRequest,
  FindPath,
  Roots,
  RunContext,
  ToolResult,
} from "../tool/index.ts";
import type { SourcesOfArtifact } from "./artifact-sources.ts";
import type { KernelConfig } from "./config.ts";
import type { PermissionAnswer, PermissionRequest } from "./permission-request.ts";

export interface RunIdentity {
  readonly session_id: string;
  readonly run_id: string;
  readonly agent_id: string;
  readonly parent_run_id?: string;
  readonly parent_agent_id?: string;
  readonly role: Role;
}

/** What all runs of a session have in common. */
export interface SharedParts {
  readonly config: KernelConfig;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly artifacts: ArtifactStore;
  readonly sourcesOfArtifact: SourcesOfArtifact;
  readonly grants: Grants;
  readonly findPath: FindPath | undefined;
  readonly isDirectory: ((path: string) => boolean) | undefined;
  readonly ask: AskPermission | undefined;
  readonly elicit: AskElicitation | undefined;
  readonly findRequestId: FindRequestId | undefined;
  /** Places for the children of the session that run at once (SCHED-2). */
  readonly children: { enter(): Promise<() => void> };
}

/** What decides which places a tool may know of. */
export interface RunAuthority extends Pick<SharedParts, "findPath"> {
  readonly policy: Policy;
  readonly hooks: Hooks;
  readonly roots: Roots;
}

/** A judgement that holds for every call of a tool with these effects, while the run has the same context and known secrets. */
export interface PlainVerdict {
  readonly effects: Effects;
  readonly context: RunContext;
  readonly secrets: object;
  readonly facts: PermissionFacts;
  readonly judgement: Judgement;
  /** As it is recorded. */
  readonly data: FactData<"permission.evaluated">;
}

/** Due at a moment of the clock. */
export interface Deadline {
  readonly at: number;
  expired(): void;
}

/** A run as its calls see it. */
export interface CallRun extends SharedParts, RunAuthority {
  readonly identity: RunIdentity;
  readonly recorder: Recorder;
  readonly redactor: Redactor;
  readonly deadlines: {
    add(deadline: Deadline): void;
    remove(deadline: Deadline): void;
    /** No call of a turn runs any more. */
    rest(): void;
  };
  /** Agents that its calls have started. */
  childrenStarted: number;
  /** The gateway's own bound on inline results, if it has one (RESULT-6). */
  readonly inlineLimitBytes: number;
  /** What is the same for the calls of a tool in this run, kept from call to call. */
  readonly mappingRules: Map<RegisteredTool, MappingRules>;
  readonly plainVerdicts: Map<RegisteredTool, PlainVerdict>;
  readonly admitContext: AdmitContext | undefined;
  readonly onUserAsked: OnUserAsked | undefined;
  /** The tools as they are registered now. */
  readonly registry: Pick<Registry, "current">;
  /** As last shown to the model. */
  surface: Surface;
  modelTools: ModelTools;
  /** What handlers leave for later calls (DEF-8). */
  context: RunContext;
  /** A definition changed under the model: show the new one next turn (REG-3). */
  refreshNextTurn(name: string): void;
}
/** Called when a call begins to wait for the user, for any reason, and when it no longer does (PIPE-6). */
export type OnUserAsked = (call: {
  readonly tool_call_id: string;
  readonly waits: boolean;
}) => void;

/** What a call adds to the conversation beside its result, clean and not committed yet. */
export type AddedNode = Pick<ConversationNode, "kind" | "content" | "data">;

/**
 * Called with each added node as it is committed: returns the node to add, or undefined where the conversation has it
 * already (INSTR-1).
 */
export type AdmitContext = (node: AddedNode) => AddedNode | undefined;

export interface DeferredTools {
  search(query: string, limit: number): SearchAnswer;
  /** Loads them for the rest of the run; returns those that were not loaded before. */
  load(names: readonly string[]): readonly RegisteredTool[];
  connecting(): readonly string[];
}

/** The user's side of PERM-4. It can answer, nothing else. */
export type AskPermission = (
  request: PermissionRequest,
  context: {
    signal: AbortSignal;
    /** The request as the journal has it: what may be kept of it elsewhere (PIPE-9). */
    recorded?: PermissionRequest;
  },
) => PermissionAnswer | Promise<PermissionAnswer>;

/** The id under which a runtime before this one asked for approval of the same plan, and was stopped (PERM-20). */
export type FindRequestId = (
  request: PermissionRequest,
) => string | undefined | Promise<string | undefined>;

export type AskElicitation = (
  request: ElicitationRequest & { tool_name: string; tool_call_id: string },
  context: { signal: AbortSignal },
) => ElicitationAnswer | Promise<ElicitationAnswer>;

/** A call as a model or a program makes it. */
export interface ToolCall {
  /** The provider's; a missing or repeated one is replaced. */
  id?: string;
  /** Wire name, canonical name or alias. */
  name: string;
  /** JSON text as it came, or a value. */
  arguments: unknown;
  /** The call whose handler makes this one: it is no model's, and no turn of the conversation. */
  within?: string;
  /** The user of the host, or the host itself, has refused it before it came here: it is validated and recorded, and not executed. */
  refused?: RefusedCall;
  /** Made by the runtime itself: it is no model's and no turn of the conversation, and it needs no approval. */
  made_by?: "runtime";
}

export interface RefusedCall {
  readonly reason?: string;
  /** Default: its user. */
  readonly by?: "host";
}

export interface Turn {
  /** Takes a call whose arguments are complete; returns the id its result will have. */
  push(call: ToolCall): string;
  /** The stream that brought the calls has ended well: calls that waited for that may start. */
  end(): void;
  /** The attempt is abandoned: every call that has not ended for good ends as discarded (SCHED-6). */
  discard(reason: string): Promise<ToolResult[]>;
  abort(reason: string): Promise<ToolResult[]>;
  /** New input came in: cancellable calls end, the others finish, nothing more starts. */
  interrupt(reason: string): void;
  /** Each result as soon as it and all before it are there. Ends when the turn has ended. */
  results(): AsyncIterableIterator<ToolResult>;
  /** All results, in call order, once every call has one and the stream has ended. */
  settled(): Promise<ToolResult[]>;
  /** Set when a hook ended the run. */
  readonly stopped: { readonly reason: string; readonly hook: string } | undefined;
  readonly aborted: boolean;
  /** The node the next message hangs from. */
  readonly lastNodeId: string | undefined;
  /**
   * What this turn has added to the conversation so far, in the order of the path: results in call order,
   * each with the nodes it added.
   */
  readonly nodes: readonly ConversationNode[];
}

export interface TurnOptions {
  readonly parentNodeId?: string | undefined;
  /** Every call id of the run so far; a repeated one is replaced. */
  readonly usedIds: Set<string>;
  readonly onSettled?: (turn: Turn) => void;
}
