// What an agent is before it runs (AGENT-1): its roles, its system text, the tools it may request. A definition requests and
// narrows; it grants nothing (SURF-4, PERM-9).

import type { JsonSchema, Mode, PermissionRule, Role } from "@soong/core";

export interface AgentDefinition {
  readonly id: string;
  /** For display. */
  readonly name?: string;
  /** What it is good for. */
  readonly description: string;
  /** What it may be started as. */
  readonly roles: readonly Role[];
  /** Its own part of the system text. */
  readonly system: string;
  /** A reference, as in the config. Default: the model of the run that starts it. */
  readonly model?: string;
  readonly mode?: Mode;
  /** A preference, never a permission. */
  readonly suggested_tools?: readonly string[];
  /** What it may be started with at the most, within the ceiling of its role. Default: the role's. */
  readonly allowed_tools?: readonly string[];
  /** Ask and deny only: they narrow what its parent may do. */
  readonly rules?: readonly PermissionRule[];
  readonly max_turns?: number;
  readonly timeout_ms?: number;
  readonly expected_output_schema?: JsonSchema;
  readonly origin: DefinitionOrigin;
}

export type DefinitionOrigin =
  | { readonly kind: "built_in" }
  | { readonly kind: "code" }
  | { readonly kind: "file"; readonly file: string };

/** As it is written, in a file or in code. */
export interface WrittenDefinition extends Omit<AgentDefinition, "roles" | "origin"> {
  readonly roles?: readonly Role[];
  /** Takes the place of the built-in of this id. */
  readonly override?: boolean;
}

/** What a definition that does not say so may be started as. */
export const USUAL_ROLES: readonly Role[] = ["sub", "fork"];

export function describeOrigin(origin: DefinitionOrigin): string {
  if (origin.kind === "file") return origin.file;
  return origin.kind === "code" ? "a definition from code" : "a built-in definition";
}
