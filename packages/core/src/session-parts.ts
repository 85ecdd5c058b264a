// What the runs of one session share. Made by the session, used by its runs.

import type { DeferredTools, SharedParts } from "./call/index.ts";
import type { Hooks } from "./hook/run-hooks.ts";
import type { Recorder, Redactor, SessionRecorder } from "./journal/index.ts";
import type { PolicyInput } from "./permission/index.ts";
import type { RegisteredTool } from "./registry/registered-tool.ts";
import type { Registry } from "./registry/registry.ts";
import type { KeepText } from "./kept-texts.ts";
import type { RunPolicies } from "./run-policy.ts";
import type { RunStarts } from "./run-start.ts";
import type { Roots } from "./tool/index.ts";

export interface SessionParts {
  readonly session_id: string;
  /** What their calls see of it. */
  readonly shared: SharedParts;
  readonly registry: Registry;
  readonly recorder: SessionRecorder;
  readonly redactor: () => Redactor;
  readonly hooks: Hooks;
  /** The same hooks for a run with roots of its own: their relative paths mean another place. */
  hooksIn(roots: Roots): Hooks;
  readonly resolvePath: ((path: string) => string | undefined) | undefined;
  readonly policy: PolicyInput;
  readonly roots: Roots;
  /** Of the kernel: what its runs have in common. */
  readonly policies: RunPolicies;
  readonly starts: RunStarts;
  readonly keepText: KeepText;
  /** Runs that are under way, for the tools that act on their own run. */
  readonly runs: Map<string, DeferredTools>;
  /** A tool's long instructions, asked for once a session. */
  instructionsOf(tool: RegisteredTool, recorder: Recorder): Promise<string | undefined>;
}
