// The decisions of a kept run under another config.

import type { Decision, RuleOrigin } from "@soong/core";

export interface WhatIfAsked {
  run_id: string;
  /** A path; relative ones from where the inspector was started. */
  config_file: string;
}

export interface WhatIf {
  session_id: string;
  run_id: string;
  config_file: string;
  /** Why the run would not begin at all; then the rest is empty. */
  refused?: string;
  surface: readonly { tool_name: string; was: string; now: string; reason?: string }[];
  calls: readonly {
    tool_call_id: string;
    tool_name: string;
    seq: number;
    was: Verdict;
    now: Verdict;
  }[];
  unchanged: number;
}

export interface Verdict {
  decision: Decision;
  layer: string;
  rule: string;
  reason: string;
  origin?: RuleOrigin;
}
