// The second layer: the rules that config, flags and code wrote, and the two settings that amount to
// rules, `permissions.destructive` (PERM-9) and `permissions.network` (PERM-10).

import type { ChainEntry } from "./decision.ts";
import type { Subject } from "./facts.ts";
import { matchesHost } from "./host.ts";
import type { Policy } from "./policy.ts";
import type { CompiledRule, RuleMatch } from "./compile-rule.ts";
import { quote } from "./path.ts";

export function rulesEntries(policy: Policy, subject: Subject): ChainEntry[] {
  const entries: ChainEntry[] = [];
  const doubts: { at: number; match: "opaque" | "reach"; instead: ChainEntry }[] = [];
  let answers: "opaque" | "all" | undefined;
  for (const compiled of policy.rules) {
    const match = compiled.matches(subject);
    if (match === "no") {
      const unproven = unprovenEntry(compiled, subject);
      if (unproven !== undefined) entries.push(unproven);
      continue;
    }
    const entry = ruleEntry(compiled, subject, match);
    if (match === "spelled" && entry.verdict === "allow") answers ??= "opaque";
    if (match === "whole" && entry.verdict === "allow") answers = "all";
    if (match === "opaque" || (match === "reach" && entry.unspelled === true)) {
      const { outspoken, reach_outspoken } = compiled.entries;
      const instead = match === "opaque" ? outspoken : reach_outspoken;
      doubts.push({ at: entries.length, match, instead });
    }
    entries.push(entry);
  }
  // A rule that spells out this very command knows what it runs, and what that reads (PERM-15, PERM-16).
  for (const { at, match, instead } of doubts) {
    if (answers === "all" || answers === match) entries[at] = instead;
  }
  if (policy.destructive === "deny" && subject.destructive) entries.push(DESTRUCTIVE_DENIED);
  if (subject.network) {
    const entry = networkEntry(policy, subject);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** Whether a rule allows this very command, word by word or by the script that it runs. */
export function spellsOutCommand(policy: Policy, subject: Subject): boolean {
  return policy.rules.some(
    (compiled) =>
      compiled.matches(subject) === "whole" &&
      ruleEntry(compiled, subject, "whole").verdict === "allow",
  );
}

/** Whether the user listed every host this call may reach. */
export function reachesListedHostsOnly(policy: Policy, subject: Subject): boolean {
  const { hosts } = policy.network;
  return hosts.length > 0 && firstUnlistedHost(hosts, subject) === undefined;
}

function ruleEntry(
  compiled: CompiledRule,
  subject: Subject,
  match: Exclude<RuleMatch, "no">,
): ChainEntry {
  const config = match === "uncovered" ? findConfig(subject) : undefined;
  if (config !== undefined) {
    const reason = `A rule allows git here, but not what a repository makes it run: ${config}.`;
    return { ...compiled.entries.uncovered, reason };
  }
  // What a call that runs no program may reach, no rule on commands answers.
  if (match === "reach" && !subject.resources.some(({ kind }) => kind === "command")) {
    return compiled.entries.reach_below;
  }
  if (match !== "yes" && match !== "spelled" && match !== "whole") return compiled.entries[match];
  const mustName = compiled.rule.decision === "allow" && subject.dangerous;
  return mustName && !compiled.names(subject.tool.tool_name)
    ? compiled.entries.insufficient
    : compiled.entries.yes;
}

/** A rule that would allow this very tool, if the call were proven to only read. */
function unprovenEntry(compiled: CompiledRule, subject: Subject): ChainEntry | undefined {
  const { whyNotReadOnly: why } = subject;
  const { decision, tags } = compiled.rule;
  if (why === undefined || decision !== "allow" || tags?.includes("readonly") !== true)
    return undefined;
  if (!compiled.names(subject.tool.tool_name)) return undefined;
  if (compiled.matches({ ...subject, readOnly: true, destructive: false }) === "no")
    return undefined;
  return {
    ...compiled.entries.insufficient,
    reason: `A rule allows it where it is proven to only read. ${why}`,
  };
}

function findConfig({ resources }: Subject): string | undefined {
  return resources
    .map((resource) => (resource.kind === "command" ? resource.config_runs?.why : undefined))
    .find((why) => why !== undefined);
}

function setting(
  name: string,
  verdict: ChainEntry["verdict"],
  reason: string,
  more: Partial<ChainEntry> = {},
): ChainEntry {
  return Object.freeze({ layer: "rules", rule: `permissions.${name}`, verdict, reason, ...more });
}

const DESTRUCTIVE_DENIED = setting(
  "destructive",
  "deny",
  "This call may destroy something, and destructive calls are denied here.",
  { code: "destructive_denied" },
);

function networkEntry(policy: Policy, subject: Subject): ChainEntry | undefined {
  switch (policy.network.mode) {
    case "off":
      return NETWORK_OFF;
    case "ask":
      return NETWORK_ASKS;
    case "default":
      return undefined;
    case "hosts": {
      const unlisted = firstUnlistedHost(policy.network.hosts, subject);
      if (unlisted === undefined) return HOSTS_LISTED;
      const reason =
        unlisted === "unknown"
          ? "The host this call would reach is not known, and only listed hosts are allowed."
          : `The host ${quote(unlisted.host)} is not on the list of allowed hosts.`;
      return setting("network", "deny", reason, { code: "host_not_allowed" });
    }
  }
}

function firstUnlistedHost(
  list: readonly string[],
  subject: Subject,
): "unknown" | { host: string } | undefined {
  const host = subject.hosts.known.find((known) => !list.some((item) => matchesHost(item, known)));
  if (host !== undefined) return { host };
  return subject.hosts.unknown ? "unknown" : undefined;
}

const NETWORK_OFF = setting("network", "deny", "The network is switched off for tools.", {
  code: "network_off",
});
const NETWORK_ASKS = setting("network", "ask", "Every use of the network requires approval.", {
  every_time: true,
});
const HOSTS_LISTED = setting(
  "network",
  "no_opinion",
  "Every host this call would reach is on the list of allowed hosts.",
);
