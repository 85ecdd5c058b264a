// What the runs of one session share. Made by the session, used by its runs.

import type {
  AskElicitation,
  AskPermission,
  DeferredTools,
  FindRequestId,
  KernelConfig,
  SessionChildren,
  SourcesOfArtifact,
} from "./call/index.ts";
import type { Hooks } from "./hook/index.ts";
import type {
  ArtifactStore,
  Clock,
  IdSource,
  Recorder,
  Redactor,
  SessionRecorder,
} from "./journal/index.ts";
import type { Grants, PolicyInput } from "./permission/index.ts";
import type { RegisteredTool, Registry } from "./registry/index.ts";
import type { KeepDefinitions } from "./run-record.ts";
import type { FindPath, Roots } from "./tool/index.ts";

export interface SessionParts {
  readonly session_id: string;
  readonly config: KernelConfig;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly recorder: SessionRecorder;
  readonly redactor: () => Redactor;
  readonly artifacts: ArtifactStore;
  readonly hooks: Hooks;
  /** The same hooks for a run with roots of its own: their relative paths mean another place. */
  hooksIn(roots: Roots): Hooks;
  readonly resolvePath: ((path: string) => string | undefined) | undefined;
  readonly findPath: FindPath | undefined;
  readonly isDirectory: ((path: string) => boolean) | undefined;
  readonly sourcesOfArtifact: SourcesOfArtifact;
  readonly grants: Grants;
  readonly policy: PolicyInput;
  readonly roots: Roots;
  readonly children: SessionChildren;
  readonly ask: AskPermission | undefined;
  readonly elicit: AskElicitation | undefined;
  readonly findRequestId: FindRequestId | undefined;
  readonly keepDefinitions: KeepDefinitions;
  /** Runs that are under way, for the tools that act on their own run. */
  readonly runs: Map<string, DeferredTools>;
  /** A tool's long instructions, asked for once a session. */
  instructionsOf(tool: RegisteredTool, recorder: Recorder): Promise<string | undefined>;
}
