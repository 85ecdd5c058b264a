// THE evaluator (PERM-2): the one place where facts become a decision. It never asks, never waits and
// never throws; what it is given it judges, and every reason it had is in the chain (PERM-11).

import type { ChainEntry, Decision, Judgement, Mode } from "./decision.ts";
import { isStricter, MODES } from "./decision.ts";
import { MODE_ON_READS, NO_OPINION, OWN_ALLOWED, READONLY_ALLOWED } from "./default-layers.ts";
import { type PermissionFacts, type Subject, isOwnSource } from "./facts.ts";
import type { GrantLookup, ToolGrant } from "./grants.ts";
import { judge } from "./judge.ts";
import type { Policy } from "./policy.ts";
import { subjectUnder } from "./sandbox.ts";
import { spellsOutCommand } from "./rules-layer.ts";
import { runtimeEntries } from "./runtime-layer.ts";
import { isAskedByDefault, otherScopes, scopesOfSubject } from "./scopes-of-call.ts";
import { quote } from "./path.ts";

/** The decision of a policy about one call, with the chain that led to it (PERM-2). */
export function evaluate(policy: Policy, facts: PermissionFacts, grants: GrantLookup): Judgement {
  const subject = subjectUnder(policy, facts);
  if (isPlainRead(policy, facts, subject)) {
    return (isOwnSource(facts.source_kind) ? PLAIN_OWN : PLAIN_READ)[policy.mode];
  }

  const verdict = judge(policy, (judging) =>
    judging === policy ? subject : subjectUnder(judging, facts),
  );
  const isAnswered =
    facts.hook?.unspelled === true &&
    (isClosedInside(subject) || spellsOutCommand(topmost(policy), subject));
  const hook = hookEntry(facts.hook);
  const skills = (facts.requested_by ?? []).map(requestEntry);
  const shownHook: ChainEntry[] =
    hook === undefined ? [] : [isAnswered ? { ...hook, verdict: "no_opinion" } : hook];
  const chain = [...verdict.entries, ...shownHook, ...skills];
  // A hook can only tighten: its ask matters where policy allowed, its deny everywhere.
  const tightened = hook !== undefined && !isAnswered && isStricter(hook.verdict, verdict.decision);
  const decision = tightened ? hook.verdict : verdict.decision;
  const decisive = tightened ? hook : verdict.decisive;
  if (decision !== "ask") return judgement(decision, chain, decisive);

  if (chain.some((entry) => entry.verdict === "ask" && entry.every_time === true)) {
    return { ...judgement("ask", [...chain, ASKED_EVERY_TIME], decisive), every_time: true };
  }
  const scopes = scopesOfSubject(policy, subject, facts.input_digest);
  const others = otherScopes(policy, subject, { beginnings: isAskedByDefault(chain) });
  const grant = grants.covers(facts.tool_name, scopes, others);
  if (grant === undefined) {
    return { ...judgement("ask", [...chain, NOT_GRANTED], decisive), scopes };
  }
  const granted = grantEntry(grant);
  return {
    ...judgement("allow", [...chain, granted], granted),
    scopes,
    grant_id: grant.grant_id,
  };
}

function judgement(
  decision: Decision,
  chain: readonly ChainEntry[],
  decisive: ChainEntry,
): Judgement {
  return {
    decision,
    chain: chain.map((entry) => (entry === decisive ? { ...entry, decisive: true } : entry)),
    reason: decisive.reason,
    ...(decisive.code === undefined ? {} : { code: decisive.code }),
    scopes: [],
    every_time: false,
  };
}

/** What guards a parent's run guards those of its children, so the parent's rules answer. */
function topmost(policy: Policy): Policy {
  return policy.ceiling === undefined ? policy : topmost(policy.ceiling);
}

function hookEntry(
  hook: PermissionFacts["hook"],
): (ChainEntry & { readonly verdict: "ask" | "deny" }) | undefined {
  if (hook === undefined) return undefined;
  return {
    layer: "hook",
    rule: `hook:${hook.hook}`,
    // Anything that is not plainly an ask is the stricter of the two.
    verdict: hook.decision === "ask" ? "ask" : "deny",
    reason: hook.reason,
    ...(hook.unspelled === true ? { unspelled: true, code: "restricted_path" } : {}),
    ...(hook.decision === "ask" ? {} : { code: "hook_denied" }),
  };
}

function requestEntry(skill: string): ChainEntry {
  return {
    layer: "skill",
    rule: `skill:${skill}`,
    verdict: "no_opinion",
    reason: `The loaded skill ${quote(skill)} requests this tool; a request is not a permission.`,
  };
}

function grantEntry(grant: ToolGrant): ChainEntry {
  return {
    layer: "grant",
    rule: `grant:${grant.grant_id}`,
    verdict: "satisfied",
    reason: `${quote(grant.granted_by)} allowed this for the session at ${grant.granted_at}.`,
  };
}

const NOT_GRANTED: ChainEntry = Object.freeze({
  layer: "grant",
  rule: "grants",
  verdict: "no_opinion",
  reason: "No grant of this session covers this call.",
});

const ASKED_EVERY_TIME: ChainEntry = Object.freeze({
  layer: "grant",
  rule: "grants",
  verdict: "insufficient",
  reason: "This requires approval every time, even if it was granted before.",
});

/** The commonest call by far, judged without building anything: a read no one has a rule about. */
function isPlainRead(policy: Policy, facts: PermissionFacts, subject: Subject): boolean {
  return (
    policy.rules.length === 0 &&
    policy.ceiling === undefined &&
    facts.hook === undefined &&
    facts.requested_by === undefined &&
    subject.readOnly &&
    !subject.dangerous &&
    !subject.network &&
    runtimeEntries(policy.boundary, subject).length === 0
  );
}

const PLAIN_READ = plainJudgements(READONLY_ALLOWED);
const PLAIN_OWN = plainJudgements(OWN_ALLOWED);

function plainJudgements(allowed: ChainEntry): Readonly<Record<Mode, Judgement>> {
  const plain = (mode: Mode): Judgement => {
    const chain = [NO_OPINION.runtime, NO_OPINION.rules, MODE_ON_READS[mode], allowed];
    const built = judgement("allow", chain, allowed);
    built.chain.forEach(Object.freeze);
    Object.freeze(built.chain);
    Object.freeze(built.scopes);
    return Object.freeze(built);
  };
  return Object.fromEntries(MODES.map((mode) => [mode, plain(mode)])) as Record<Mode, Judgement>;
}

/** A path that its command may reach is masked then. */
function isClosedInside({ isSandboxed, resources }: Subject): boolean {
  return (
    isSandboxed &&
    resources.every((one) => one.kind !== "command" || (one.reach_inside ?? []).length === 0)
  );
}
