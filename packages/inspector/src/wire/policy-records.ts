// The policy of a project, what its rules matched, and a rule that was typed on the page: what it would have decided, and what
// writing it would change.

import type { Decision, PermissionRule, RuleOrigin } from "@soong/core";

export interface PolicyPage {
  /** The one it is the policy of, and those that can be chosen. */
  project: string;
  projects: readonly string[];
  /** The user's own, whether it is there or not. */
  config_file: string;
  /** Why it cannot be used; then the rest is empty. */
  problems: readonly string[];
  /** What matches nothing, and who else could have written the config. */
  warnings: readonly string[];
  /** What holds beside the rules, with the layer it belongs to. */
  settings: readonly { layer: "runtime" | "mode" | "defaults"; name: string; value: string }[];
  rules: readonly PolicyRule[];
  sensitive_paths: readonly string[];
}

export interface PolicyRule {
  /** Such as `rules[0]`. */
  id: string;
  rule: Omit<PermissionRule, "origin">;
  origin?: RuleOrigin;
  /** As lines of a config. */
  toml: string;
}

/** What the rules matched in the latest sessions, of any project. */
export interface RuleMatches {
  /** By the lines of a rule: two that say the same are one. */
  matches: Readonly<Record<string, RuleMatch>>;
  sessions: number;
  calls: number;
  /** Of the oldest session that was read. */
  since?: string;
  /** Older sessions were not read. */
  has_older: boolean;
}

export interface RuleMatch {
  matched: number;
  /** How often it was what decided. */
  decided: number;
  /** Newest first. */
  latest: readonly CallRef[];
}

export interface CallRef {
  session_id: string;
  run_id: string;
  tool_call_id: string;
  tool_name: string;
  project: string;
  at: string;
  decision: Decision;
}

/** By its fields, or as lines of a config. */
export type RuleTyped = { fields: RuleFields } | { toml: string };
export type RuleFields = Readonly<Record<string, string | boolean | readonly string[]>>;

export interface RuleChecked {
  /** At the field it is about, or at a line of what was typed. */
  problems: readonly { field?: string; line?: number; message: string }[];
  /** The rule as it would be written. */
  toml?: string;
  decision?: Decision;
}

/** What writing a rule would do to the user's config. */
export interface RuleChange {
  file: string;
  /** Where the rule would be. */
  line: number;
  diff: string;
  /** Of the file as it is now and of the rule: what is written is what was shown. */
  hash: string;
}

export interface RuleWritten {
  /** False: the file has changed since; then the change is another one, and nothing was written. */
  written: boolean;
  change: RuleChange;
}

/** What all recorded runs would have come to, a few sessions at a time, newest first. */
export interface WhatIfAllAsked {
  rule?: RuleTyped;
  /** Instead of a rule: another config; relative paths from where the inspector was started. */
  config_file?: string;
  /** The `next` of the answer before. */
  after?: string;
}

export interface WhatIfAll {
  runs: number;
  /** Decided as they were. */
  unchanged: number;
  /** Decided differently. */
  groups: readonly WhatIfGroup[];
  /** Runs that cannot be decided again, by reason. */
  skipped: Readonly<Record<string, number>>;
  /** Of the oldest session that was read. */
  since?: string;
  /** Omitted at the end. */
  next?: string;
}

export interface WhatIfGroup {
  tool_name: string;
  project: string;
  was: Decision;
  now: Decision;
  count: number;
  latest: readonly CallRef[];
}
