// How a command is to run (CMD-6): in a sandbox or not, and which hosts it may reach from inside. Of a policy and its
// ceilings the strictest counts, so that no child leaves the sandbox of its parent.

import { matchesName, type SandboxChoice } from "../tool/index.ts";
import type { CompiledRule } from "./compile-rule.ts";
import { type PermissionFacts, type Subject, subjectOfCall } from "./facts.ts";
import { canonicalHost, matchesHost } from "./host.ts";
import { isMarkedReadonly, isStricterMode, type Policy } from "./policy.ts";

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
  let all = [...own, ...(tmp_dir === undefined ? [] : [tmp_dir])];
  for (let above = ceiling; above; above = above.ceiling) {
    const { boundary } = above;
    // Without roots nothing is inside or outside.
    all = all.filter((root) => boundary.isOrdinaryWrite(root) !== false);
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

/** `isRequest`: it runs outside because the call wants to, if the user lets it. */
function findMode(policy: Policy, subject: Subject): FoundMode {
  const found = findStrictest(policy, subject);
  const wantsOut = subject.resources.some((one) => one.kind === "command" && one.leaves_sandbox);
  if (found.mode !== "on" || !wantsOut) return found;
  return { mode: "off", by: "the model requests it", isRequest: true };
}

interface FoundMode extends Pick<SandboxChoice, "mode" | "by"> {
  readonly isRequest?: true;
}

function findStrictest(policy: Policy, subject: Subject): FoundMode {
  const own = ownMode(policy, subject);
  if (policy.ceiling === undefined) return own;
  const above = findStrictest(policy.ceiling, subject);
  return isStricterMode(above.mode, own.mode) ? above : own;
}

function ownMode(policy: Policy, subject: Subject): FoundMode {
  const { sandbox, rules } = policy;
  const [byRule] = rules
    .flatMap((compiled) => {
      const mode = compiled.sandboxOf(subject);
      return mode === undefined ? [] : [{ mode, by: compiled.entries.yes.rule }];
    })
    .toSorted((a, b) => (isStricterMode(a.mode, b.mode) ? -1 : 1));
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

/** A call as this policy sees it: what counts as readonly, and as dangerous, is policy, too. */
export function subjectUnder(policy: Policy, facts: PermissionFacts): Subject {
  const subject = subjectOfCall(facts, {
    markedReadonly: isMarkedReadonly(policy, facts),
    trustsProofs: policy.read_only_commands === "allow",
  });
  const commands = subject.resources.filter((one) => one.kind === "command");
  if (commands.length === 0) return subject;
  const { mode, isRequest } = findMode(policy, commandAlone(subject));
  if (mode === "off") return isRequest === true ? { ...subject, leavesSandbox: true } : subject;
  const without = commands.find(({ sandbox = NO_SANDBOX }) => !("backend" in sandbox));
  if (without === undefined) return { ...subject, isSandboxed: true };
  if (mode === "on") return subject;
  const { sandbox = NO_SANDBOX } = without;
  return {
    ...subject,
    sandboxMissing: "missing" in sandbox ? sandbox.missing : NO_SANDBOX.missing,
  };
}

const NO_SANDBOX = { missing: "this tool runs its commands without one" };
