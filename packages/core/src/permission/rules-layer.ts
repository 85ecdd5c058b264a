// The second layer: the rules that config, flags and code wrote, and the two settings that amount to
// rules, `permissions.destructive` (PERM-9) and `permissions.network` (PERM-10).

import type { ChainEntry } from "./decision.ts";
import type { Subject } from "./facts.ts";
import { matchesHost } from "./host.ts";
import type { Policy } from "./policy.ts";
import { quote } from "./quote.ts";
import type { CompiledRule, RuleMatch } from "./compile-rule.ts";

export function rulesEntries(policy: Policy, subject: Subject): ChainEntry[] {
  const entries: ChainEntry[] = [];
  const opaque: { at: number; instead: ChainEntry }[] = [];
  let isSpelledOut = false;
  for (const compiled of policy.rules) {
    const match = compiled.matches(subject);
    if (match === "no") continue;
    const entry = ruleEntry(compiled, subject, match);
    if (match === "spelled" && entry.verdict === "allow") isSpelledOut = true;
    if (match === "opaque") {
      opaque.push({ at: entries.length, instead: compiled.entries.outspoken });
    }
    entries.push(entry);
  }
  // Whoever wrote down this very command knows what it runs (PERM-16).
  if (isSpelledOut) for (const { at, instead } of opaque) entries[at] = instead;
  if (policy.destructive === "deny" && subject.destructive) entries.push(DESTRUCTIVE_DENIED);
  if (subject.network) {
    const entry = networkEntry(policy, subject);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
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
  if (match !== "yes" && match !== "spelled") return compiled.entries[match];
  const mustName = compiled.rule.decision === "allow" && subject.dangerous;
  return mustName && !compiled.names(subject.tool.tool_name)
    ? compiled.entries.insufficient
    : compiled.entries.yes;
}

const DESTRUCTIVE_DENIED: ChainEntry = Object.freeze({
  layer: "rules",
  rule: "permissions.destructive",
  verdict: "deny",
  reason: "This call may destroy something, and destructive calls are denied here.",
  code: "destructive_denied",
});

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
      return {
        layer: "rules",
        rule: "permissions.network",
        verdict: "deny",
        reason,
        code: "host_not_allowed",
      };
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

const NETWORK_OFF: ChainEntry = Object.freeze({
  layer: "rules",
  rule: "permissions.network",
  verdict: "deny",
  reason: "The network is switched off for tools.",
  code: "network_off",
});

const NETWORK_ASKS: ChainEntry = Object.freeze({
  layer: "rules",
  rule: "permissions.network",
  verdict: "ask",
  reason: "Every use of the network is asked about.",
  every_time: true,
});

const HOSTS_LISTED: ChainEntry = Object.freeze({
  layer: "rules",
  rule: "permissions.network",
  verdict: "no_opinion",
  reason: "Every host this call would reach is on the list of allowed hosts.",
});
