// What there is to take over from another program, before anything is decided about it: each part with where it comes
// from, and what has no counterpart with the reason.

import type { PermissionRule } from "@soong/core";

export interface Found {
  readonly servers: FoundServer[];
  readonly rules: FoundRule[];
  readonly agents: FoundText[];
  readonly skills: FoundSkill[];
  readonly commands: FoundText[];
  /** What the user tells every agent, for AGENTS.md. */
  readonly instructions: FoundText[];
  readonly unmapped: Unmapped[];
}

export interface FoundServer {
  readonly id: string;
  /** For mcp.json, without any secret. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly from: string;
  readonly notes: readonly string[];
}

export interface FoundRule {
  readonly rule: PermissionRule;
  /** As it was written there. */
  readonly written: string;
  readonly from: string;
}

export interface FoundText {
  readonly name: string;
  readonly text: string;
  readonly from: string;
}

export interface FoundSkill {
  readonly name: string;
  /** Its folder. */
  readonly from: string;
}

export interface Unmapped {
  readonly what: string;
  readonly why: string;
  readonly from: string;
}

/** Where another program has its files. */
export interface ImportPlaces {
  /** The home directory of the user, and the variables that move those files elsewhere. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
  readonly cwd: string;
  /** Settings of the project count, too: the user asked for it. */
  readonly withProject: boolean;
}

export function nothingFound(): Found {
  return {
    servers: [],
    rules: [],
    agents: [],
    skills: [],
    commands: [],
    instructions: [],
    unmapped: [],
  };
}
