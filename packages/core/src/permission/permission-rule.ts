// A permission rule as users write it (CONF-4), and the sentences it puts into a chain. They depend on
// the rule alone, so they are made once.

import { omitUndefined } from "@soong/schema";
import type { NamePattern, SandboxMode } from "../tool/index.ts";
import type { ChainEntry, Decision, RuleOrigin } from "./decision.ts";

/** All conditions must hold. For an allow they hold of every target, for ask and deny of any one. */
export interface PermissionRule {
  readonly tool?: NamePattern;
  /** All of them. */
  readonly tags?: readonly string[];
  /** A glob, absolute or relative to the project. */
  readonly path?: string;
  /**
   * A prefix of the command: `*` is one item, a last `**` any rest. To allow a program that runs the project's code, it is the whole
   * command, in the project's own directory, unless it ends with `**`.
   */
  readonly argv?: readonly string[];
  /** The argv is the whole command: nothing may follow it. */
  readonly exact_argv?: boolean;
  readonly host?: string;
  /** Holds in this project alone: the absolute path of its directory. */
  readonly project?: string;
  readonly decision: Decision;
  readonly reason?: string;
  /** For ask: no grant satisfies it. */
  readonly every_time?: boolean;
  /** How a command that it matches runs, instead of `sandbox.mode`. */
  readonly sandbox?: SandboxMode;
  readonly origin?: RuleOrigin;
}

/** What a rule says of a call it matches, might match, could be reached by, or matches without weight (PERM-7, PERM-16). */
export function entriesOfRule(rule: PermissionRule, id: string) {
  const { decision, every_time } = rule;
  const summary = summarizeRule(rule);
  const says = `${SAYS[decision]} (${summary})`;
  const place = { layer: "rules", rule: id, ...omitUndefined({ origin: rule.origin }) } as const;
  const entry = (
    verdict: ChainEntry["verdict"],
    reason: string,
    more: Partial<ChainEntry> = {},
  ): ChainEntry => Object.freeze({ ...place, verdict, reason, ...more });
  const every = every_time === true ? ({ every_time } as const) : {};
  const reaches = `could reach what a rule restricts (${summary})`;
  return {
    yes: entry(decision, rule.reason ?? `${says}.`, {
      ...every,
      ...(decision === "deny" ? { code: "policy_denied" } : {}),
    }),
    maybe: entry(
      "ask",
      `${says} where that host is reached, and the host of this call is not known.`,
      every,
    ),
    // As for what it runs: the user has seen the arguments that the rule is in doubt about.
    reach: entry(
      "ask",
      `This program ${reaches}, and what it reads and writes cannot be judged. A rule that allows this very command answers it.`,
      { code: "restricted_path", unspelled: true },
    ),
    masked: entry("no_opinion", `This program ${reaches}, but in its sandbox that path is closed.`),
    reach_below: entry("ask", `This call ${reaches}, and what it reads cannot be judged.`, {
      ...every,
      code: "restricted_path",
    }),
    reach_outspoken: entry(
      "no_opinion",
      `This program ${reaches}, but another rule spells this command out.`,
    ),
    insufficient: entry(
      "insufficient",
      `${says}, but a dangerous tool needs a rule that names it exactly.`,
      every,
    ),
    uncovered: entry(
      "insufficient",
      `${says}, but its wildcard does not cover arguments that run another program. A rule that spells them out does.`,
      every,
    ),
    beyond: entry(
      "insufficient",
      `${says} in the project's own directory and with no more arguments, since others may choose other code to run. A last "**" covers them.`,
      every,
    ),
    // The user who grants this very argv has seen it, so `every_time` is not needed here.
    opaque: entry(
      "ask",
      `${says} where that program is run, and what this command runs cannot be determined. A rule that allows this very command answers it.`,
      { unspelled: true },
    ),
    outspoken: entry(
      "no_opinion",
      `${says} where that program is run. What this command runs cannot be determined, but another rule spells this command out.`,
    ),
  };
}

const SAYS = {
  allow: "A rule allows this",
  ask: "A rule asks about this",
  deny: "A rule denies this",
} as const;

function summarizeRule(rule: PermissionRule): string {
  return (["tool", "tags", "path", "argv", "host"] as const)
    .filter((key) => rule[key] !== undefined)
    .map((key) => `${key} = ${JSON.stringify(rule[key])}`)
    .join(", ");
}
