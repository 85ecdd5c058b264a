// How a command is to run (CMD-6): in a sandbox or not, and which hosts it may reach from inside. Of a policy and its
// ceilings the strictest counts, so that no child leaves the sandbox of its parent.

import { matchesName, type SandboxChoice, type SandboxMode } from "../tool/index.ts";
import type { CompiledRule } from "./compile-rule.ts";
import type { Subject } from "./facts.ts";
import { canonicalHost, matchesHost } from "./host.ts";
import type { Policy } from "./policy.ts";

export interface SandboxPolicy {
  /** Default: `on`. */
  readonly mode?: SandboxMode;
  /** In the sandbox a command needs no approval, unless a rule, the runtime or a hook asks. Default: false. */
  readonly auto_allow?: boolean;
  /** By tool: of several patterns that fit, the longest counts. */
  readonly tools?: Readonly<Record<string, SandboxMode>>;
}

/** `subject`: of the command alone, without the other targets of its call. */
export function chooseSandbox(policy: Policy, subject: Subject): SandboxChoice {
  const { mode, by } = findMode(policy, subject);
  return {
    mode,
    by,
    roots: rootsOf(policy),
    hosts: hostsOpenTo(policy, subject),
    hostRefusal: (host) => hostRefusal(policy, subject, host),
  };
}

function rootsOf({ input, ceiling }: Policy): string[] {
  const { roots, tmp_dir } = input;
  const own = roots === undefined ? [] : [roots.project, ...roots.write];
  const all = [...own, ...(tmp_dir === undefined ? [] : [tmp_dir])];
  for (let above = ceiling; above; above = above.ceiling) {
    const { boundary } = above;
    if (above.input.roots !== undefined)
      return all.filter((root) => boundary.isOrdinaryWrite(root));
  }
  return all;
}

/** A call as its sandbox sees it: what else it names does not decide how its command runs. */
export function commandAlone(subject: Subject): Subject {
  return {
    ...subject,
    resources: subject.resources.filter(({ kind }) => kind === "command"),
    network: false,
    hosts: { known: [], unknown: false },
  };
}

export function findMode(policy: Policy, subject: Subject): Pick<SandboxChoice, "mode" | "by"> {
  const own = ownMode(policy, subject);
  if (policy.ceiling === undefined) return own;
  const above = findMode(policy.ceiling, subject);
  return STRICTNESS[above.mode] > STRICTNESS[own.mode] ? above : own;
}

const STRICTNESS = { off: 0, on: 1, required: 2 } as const;

export function isStricterMode(a: SandboxMode, b: SandboxMode): boolean {
  return STRICTNESS[a] > STRICTNESS[b];
}

function ownMode(policy: Policy, subject: Subject): Pick<SandboxChoice, "mode" | "by"> {
  const { sandbox, rules } = policy;
  const [byRule] = rules
    .flatMap((compiled) => {
      const mode = compiled.sandboxOf(subject);
      return mode === undefined ? [] : [{ mode, by: compiled.entries.yes.rule }];
    })
    .toSorted((a, b) => STRICTNESS[b.mode] - STRICTNESS[a.mode]);
  if (byRule !== undefined) return byRule;
  const { tool_name } = subject.tool;
  const [ofTool] = Object.entries(sandbox.tools)
    .filter(([pattern]) => matchesName(pattern, tool_name))
    .toSorted(([a], [b]) => b.length - a.length);
  if (ofTool === undefined) return { mode: sandbox.mode, by: "sandbox.mode" };
  return { mode: ofTool[1], by: `tools.overrides.${JSON.stringify(ofTool[0])}.sandbox` };
}

/** To show: what a host is asked for one by one, `hostRefusal` answers. */
function hostsOpenTo(policy: Policy, subject: Subject): string[] {
  const { network, rules, ceiling } = policy;
  if (network.mode === "off" || network.mode === "ask") return [];
  const byRules = rules.flatMap(({ rule, opensHosts }) =>
    rule.host !== undefined && opensHosts(subject) ? [rule.host] : [],
  );
  const own = [
    ...new Set(network.mode === "hosts" ? network.hosts : [...network.hosts, ...byRules]),
  ];
  if (ceiling === undefined || own.length === 0) return own;
  const above = hostsOpenTo(ceiling, subject);
  return own.filter((host) => above.some((other) => other === host || matchesHost(other, host)));
}

function hostRefusal(policy: Policy, subject: Subject, given: string): string | undefined {
  const host = canonicalHost(given);
  if (host === undefined) return "is not the name of a host";
  for (let judging: Policy | undefined = policy; judging; judging = judging.ceiling) {
    const refusal = refusalUnder(judging, subject, host);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function refusalUnder(policy: Policy, subject: Subject, host: string): string | undefined {
  const { network, rules } = policy;
  if (network.mode === "off") return "is closed: the network is switched off for tools";
  if (network.mode === "ask") {
    return "is closed: every use of the network requires approval, and no one is asked while a command runs";
  }
  const fits = ({ rule }: CompiledRule): boolean =>
    rule.host !== undefined && matchesHost(rule.host, host);
  const closing = rules.find((compiled) => fits(compiled) && compiled.closesHosts(subject));
  if (closing !== undefined) {
    const { rule, reason } = closing.entries.yes;
    return `is closed by ${rule}: ${reason}`;
  }
  if (network.hosts.some((pattern) => matchesHost(pattern, host))) return undefined;
  const isOpen = rules.some((compiled) => fits(compiled) && compiled.opensHosts(subject));
  if (isOpen && network.mode !== "hosts") return undefined;
  return "is not open: neither permissions.network nor a rule with that host allows it";
}
