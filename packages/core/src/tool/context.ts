// What a handler and a planner are given (DEF-7). Everything that touches the outside is a port here.

import type { JsonObject, JsonValue } from "@soong/schema";
import type { PreparedPlan, Resource } from "./plan.ts";
import type { ArtifactRef } from "./result.ts";
import type { SandboxChoice, SandboxLimits, SandboxViolation } from "./sandbox.ts";

/** Where a run may work: canonical, absolute paths. */
export interface Roots {
  readonly project: string;
  readonly write: readonly string[];
}

/** State a run carries from call to call; only a context modifier changes it (DEF-8). */
export type RunContext = Readonly<JsonObject>;
export type ContextModifier = (context: RunContext) => RunContext;

export interface CallIds {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly agentId: string;
}

/** The places of a run, for code that must distinguish them before a call is judged. */
export interface Places {
  readonly roots: Roots;
  /** The pattern that makes a canonical path sensitive (PATH-3), by the list the run is judged by. */
  readonly sensitiveBy: (path: string) => string | undefined;
  /**
   * What restricts a canonical path for this tool: a deny or ask rule, a guard with such a path, or a sensitive
   * pattern (PERM-15). A tool omits what it would show of such a path, unless the call was judged by that path.
   */
  readonly restrictedBy: (
    path: string,
    access: RestrictedAccess,
    ignoresCase?: boolean,
  ) => Restriction | undefined;
  /** Absolute globs of what that may name beside the built-in list. */
  readonly restrictedGlobs: (access: RestrictedAccess) => readonly string[];
  /** Whether, and how, a command of this tool is to run in a sandbox (CMD-6). */
  readonly sandboxOf: (command: CommandTarget) => SandboxChoice;
  /** Looks a path up on the disk, with every name that a rule could know it by; undefined where there is no disk. */
  readonly findPath?: FindPath | undefined;
}

export type CommandTarget = Extract<Resource, { kind: "command" }>;

export type RestrictedAccess = "read" | "list" | "search" | "write";

export interface Restriction {
  readonly kind: "rule" | "hook" | "sensitive";
  /** A sensitive path is denied where the runtime keeps it from being written. */
  readonly decision: "ask" | "deny";
  /** The rule, the hook, or the pattern. */
  readonly by: string;
}

/** A path in the input of a tool that does not resolve its paths itself, as it was given. */
export interface GivenPath {
  readonly path: string;
  /** Where it begins if it is relative. */
  readonly directory: string;
  readonly access: RestrictedAccess;
  /** A directory means all that is in it: the tool may walk it. */
  readonly mayWalk: boolean;
}

/** The same path as the disk has it. */
export interface FoundPath {
  readonly resource: Extract<Resource, { kind: "path" }>;
  readonly exists: boolean;
}

export type FindPath = (given: GivenPath, places: Places) => FoundPath | Promise<FoundPath>;

export interface TargetsContext extends CallIds, Places {
  /** The targets of the call that wrote an artifact of this session, where they are to be judged again (PERM-15). */
  readonly sourcesOfArtifact: (artifact_id: string) => Promise<readonly Resource[]>;
  readonly signal: AbortSignal;
  readonly runContext: RunContext;
}

export interface PrepareContext extends TargetsContext {
  /** The resources `targets` named, as they were judged. Empty for a tool without it. */
  readonly targets: readonly Resource[];
}

/** Each member can be taken out of the object and used on its own. */
export interface ToolContext extends TargetsContext {
  /** What was judged and, if the user was asked, shown. Undefined for a tool without targets and prepare. */
  readonly plan: PreparedPlan | undefined;
  /** The same for every attempt to carry out this one call. */
  readonly idempotencyKey: string;
  readonly artifacts: ArtifactAccess;
  /** How many bytes a result may have inline (RESULT-6): for a tool that bounds itself. */
  readonly inlineLimitBytes: number;
  /** Hides what must not leave: for a tool that cuts text, because half a secret is not recognised (REDACT-1). */
  readonly redact: (text: string) => string;
  /** Records that its command starts in a sandbox, or why it starts without one. */
  readonly sandboxApplied: (limits: SandboxLimits | { missing: string }) => void;
  readonly sandboxViolated: (violation: SandboxViolation) => void;
  readonly progress: (update: ProgressUpdate) => void;
  /** Output so far. It is what is left of a call that is aborted or times out. */
  readonly output: (chunk: string) => void;
  /** Runs when the call is cancelled or times out; the call's end waits for it, within bounds. */
  readonly onCancel: (cleanup: () => void | Promise<void>) => void;
  /** Waits for the user: the call's time is paused meanwhile (PIPE-6). */
  readonly waitForUser: <T>(answer: Promise<T>) => Promise<T>;
  readonly elicit: (request: ElicitationRequest) => Promise<ElicitationAnswer>;
}

export interface ProgressUpdate {
  message?: string;
  /** Done so far, in the unit of `total`. */
  progress?: number;
  total?: number;
  data?: JsonValue;
}

export interface ArtifactWriter {
  readonly write: (bytes: string | Uint8Array, about: ArtifactDescription) => Promise<ArtifactRef>;
  /** For bytes that arrive piece by piece and may be too many to hold. */
  readonly open: (about: ArtifactDescription) => ArtifactSink;
}

/** Artifacts of this session, raw; those of any other do not exist here. */
export interface ArtifactAccess extends ArtifactWriter {
  readonly stat: (artifact_id: string) => Promise<ArtifactRef | undefined>;
  /** What there is of the range, which may reach past the end; undefined for an unknown artifact. */
  readonly read: (
    artifact_id: string,
    range: { offset: number; length: number },
  ) => Promise<Uint8Array | undefined>;
}

export interface ArtifactSink {
  write(bytes: string | Uint8Array): void | Promise<void>;
  close(): Promise<ArtifactRef>;
  /** Gives up what was written. */
  discard(): Promise<void>;
}

export interface ArtifactDescription {
  media_type: string;
  name?: string;
}

/** `key`: what its asker calls the question, for anyone who passes it on under that name. */
export type ElicitationRequest =
  | { mode: "form"; message: string; requested_schema: JsonObject; key?: string }
  | { mode: "url"; message: string; url: string; key?: string };

export interface ElicitationAnswer {
  action: "accept" | "decline" | "cancel";
  content?: JsonObject;
}
