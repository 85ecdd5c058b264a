// The effective tool set of a run, as data (SURF-1…3). Every registered tool is on it: loaded, deferred,
// or excluded with a reason.

import type { Mode, Policy } from "../permission/index.ts";
import type { ExcludedTool, ExclusionReason, RegistrySnapshot } from "../registry/registry.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import type { NamePattern } from "../tool/index.ts";
import type { Role } from "./ceiling.ts";
import type { ModelProfile } from "./profile.ts";

export interface SurfaceRequest {
  readonly registry: RegistrySnapshot;
  readonly role: Role;
  readonly mode: Mode;
  readonly policy: Policy;
  readonly profile: ModelProfile;
  /** Switched off by config. */
  readonly disabled?: readonly NamePattern[];
  /** What isEnabled() answered for tools that said no, with why. */
  readonly refusedByThemselves?: ReadonlyMap<string, string>;
  /** Forbidden for the task at hand. */
  readonly taskDenied?: readonly NamePattern[];
  /** Selects within the ceiling of the role (SURF-4). */
  readonly allowedTools?: readonly string[];
  /** What this run cannot have of `allowedTools` is skipped. By default the run is refused. */
  readonly skipMissingTools?: boolean;
  /** A preference of the agent definition: kept loaded longer, never a permission. */
  readonly suggestedTools?: readonly string[];
  readonly deferBudgetTokens: number;
  /** Loaded later in this run, in load order (SEARCH-3). */
  readonly loadedLater?: readonly string[];
  /** The revision before this one: what it had loaded keeps its place. */
  readonly previous?: Surface;
}

export interface Surface {
  readonly revision: number;
  readonly registryRevision: number;
  readonly role: Role;
  readonly mode: Mode;
  readonly profile: ModelProfile;
  /** In the order the model sees (SURF-7). */
  readonly loaded: readonly RegisteredTool[];
  readonly deferred: readonly RegisteredTool[];
  readonly excluded: readonly ExcludedTool[];
  readonly standing: ReadonlyMap<string, SurfaceStanding>;
  readonly aliases: ReadonlyMap<string, string>;
}

export type SurfaceStanding =
  | { state: "loaded"; tool: RegisteredTool }
  | { state: "deferred"; tool: RegisteredTool }
  | { state: "excluded"; reason: ExclusionReason; detail: string; tool?: RegisteredTool };

/** Why a run cannot start with this request. */
export interface SurfaceProblem {
  code: "unknown_tool" | "tool_excluded" | "unsupported_capability";
  tool_name: string;
  message: string;
}

export type ResolvedSurface =
  | { ok: true; surface: Surface }
  | { ok: false; problems: readonly SurfaceProblem[] };
