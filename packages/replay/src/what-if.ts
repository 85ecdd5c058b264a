// The same run under another policy or config (REPLAY-2): which of its calls would be decided otherwise, and which of its
// tools it would not have. It goes by what was recorded; what a model would have done instead is not known.

import {
  compilePolicy,
  createKernel,
  evaluate,
  RunRefused,
  staticVerdict,
  type CatalogEntry,
  type ConfigInput,
  type Decision,
  type Fact,
  type Grants,
  type Kernel,
  type PermissionFacts,
  type Policy,
  type ToolGrant,
  type PolicyInput,
  type RegisteredTool,
  type Run,
  type RuleOrigin,
} from "@soong/core";
import { createGrants, effectsUnder, entriesIn, toolFacts } from "@soong/core/internal";
import {
  createGrantHistory,
  readDefinitions,
  readRecordedRun,
  toRunOptions,
} from "./recorded-run.ts";
import { findDecisive } from "./live-call.ts";
import { readDisabledTools, registerTools, type Stage } from "./stand-ins.ts";
import { damagedJournal, readFacts, type ReplaySource } from "./source.ts";

export interface WhatIfOptions {
  readonly source: ReplaySource;
  readonly run_id: string;
  /** From the policy that was recorded to the one to judge by; a parent's goes through it as well. */
  readonly policy?: (recorded: PolicyInput) => PolicyInput;
  /** Sections that are given replace the recorded ones. */
  readonly config?: ConfigInput;
}

export interface WhatIfReport {
  readonly session_id: string;
  readonly run_id: string;
  /** Why the run would not begin at all; then there is nothing else to report. */
  readonly refused?: string;
  /** Tools that would stand otherwise when the run begins. */
  readonly surface: readonly WhatIfTool[];
  /** Calls that would be decided otherwise, in the order they were decided. */
  readonly calls: readonly WhatIfCall[];
  /** How many calls would be decided as they were, or were ended by something that is no decision of policy. */
  readonly unchanged: number;
}

export interface WhatIfTool {
  readonly tool_name: string;
  readonly was: CatalogEntry["state"] | "absent";
  readonly now: CatalogEntry["state"] | "absent";
  readonly reason?: string;
}

export interface WhatIfCall {
  readonly tool_call_id: string;
  readonly tool_name: string;
  /** Of the fact that holds the recorded decision. */
  readonly seq: number;
  readonly was: WhatIfVerdict;
  readonly now: WhatIfVerdict;
}

export interface WhatIfVerdict {
  readonly decision: Decision;
  /** `surface`: the tool is not there to be called. */
  readonly layer: string;
  readonly rule: string;
  readonly reason: string;
  readonly origin?: RuleOrigin;
}

export async function whatIf(options: WhatIfOptions): Promise<WhatIfReport> {
  const { source, run_id } = options;
  const recorded = await readRecordedRun(source, run_id);
  const policy = changedPolicy(recorded.policy, options.policy ?? ((input) => input));
  let disabled = readDisabledTools(recorded.catalog, new Set());
  const kernel = createKernel({ config: { ...recorded.config, ...options.config } });
  const tools = registerTools(
    kernel,
    createReadOnlyStage(() => disabled),
  );
  tools.set(recorded.definitions);
  const session = await kernel.openSession({ policy: policy.input });
  const about = { session_id: recorded.started.session_id, run_id };
  let run: Run;
  try {
    run = await session.startRun(toRunOptions(recorded, policy));
  } catch (error) {
    if (!(error instanceof RunRefused)) throw error;
    return { ...about, refused: error.message, surface: [], calls: [], unchanged: 0 };
  }
  const surface = surfaceChanges(entriesIn(recorded.catalog.data), run);
  const grants = createGrants();
  const recallGrants = createGrantHistory(source, grants);
  /** By call: of two judgements the one of the plan knows all that the one of the targets did. */
  const judged = new Map<string, WhatIfCall>();
  for await (const fact of readFacts(source, run_id)) await applyFact(fact);
  const calls = [...judged.values()].filter(({ was, now }) => was.decision !== now.decision);
  return { ...about, surface, calls, unchanged: judged.size - calls.length };

  async function applyFact(fact: Fact): Promise<void> {
    const { type, data, seq } = fact;
    if (type === "tool.catalog.resolved" && seq > recorded.catalog.seq) {
      disabled = readDisabledTools(fact, disabled);
      if (data.definitions !== undefined) tools.set(await readDefinitions(source, fact));
      await run.tools();
    } else if (type === "grant.created") grants.add(data.grant);
    else if (type === "permission.evaluated") {
      await recallGrants(seq, data.grant_id);
      compare(fact, toVerdict(data), judgeNow(fact, kernel, run, grants));
    } else if (type === "tool.denied") takeDenied(fact);
  }

  /** A tool that was not there: what it would have touched was never asked, so it is judged by what it is. */
  function takeDenied(fact: Fact<"tool.denied">): void {
    const { code, message = "" } = fact.data.result?.error ?? {};
    const tool = kernel.registry.current(fact.tool_name ?? "");
    if (code !== "tool_not_available" || tool === undefined) return;
    const was = { decision: "deny", layer: "surface", rule: "surface", reason: message } as const;
    compare(fact, was, explainAbsence(run, tool) ?? judgeStatically(run.policy, tool));
  }

  function compare(fact: Fact, was: WhatIfVerdict, now: WhatIfVerdict): void {
    const { tool_call_id = "", tool_name = "", seq } = fact;
    judged.delete(tool_call_id);
    judged.set(tool_call_id, { tool_call_id, tool_name, seq, was, now });
  }
}

function changedPolicy(recorded: Policy, change: (input: PolicyInput) => PolicyInput): Policy {
  const { ceiling } = recorded;
  const compiled = compilePolicy({
    ...change(recorded.input),
    ...(ceiling === undefined ? {} : { ceiling: changedPolicy(ceiling, change) }),
  });
  if (compiled.ok) return compiled.policy;
  const lines = compiled.problems.map(({ field, message }) => `permissions: ${field} ${message}`);
  throw new TypeError(lines.join("\n"));
}

/** Nothing is called, planned or asked here. */
function createReadOnlyStage(disabled: () => ReadonlySet<string>): Stage {
  return {
    call(id) {
      throw new Error(`the call ${id} is not carried out`);
    },
    admitting: undefined,
    isEnabled: (name) => !disabled().has(name),
    until: () => Promise.resolve(),
    begun() {},
  };
}

function surfaceChanges(before: readonly CatalogEntry[], { surface }: Run): WhatIfTool[] {
  const was = new Map(before.map(({ tool_name, state }) => [tool_name, state]));
  const names = [...new Set([...was.keys(), ...surface.standing.keys()])].toSorted();
  return names.flatMap((tool_name) => {
    const standing = surface.standing.get(tool_name);
    const old = was.get(tool_name) ?? "absent";
    const now = standing?.state ?? "absent";
    if (old === now) return [];
    const reason = standing?.state === "excluded" ? standing.detail : undefined;
    return [{ tool_name, was: old, now, reason }];
  });
}

type Judged = Fact<"permission.evaluated">;

function judgeNow(fact: Judged, kernel: Kernel, run: Run, grants: Grants): WhatIfVerdict {
  const tool = kernel.registry.current(fact.tool_name ?? "");
  if (tool === undefined) throw damagedJournal(fact.seq, "its tool is not among the definitions");
  const gone = explainAbsence(run, tool);
  if (gone !== undefined) return gone;
  return toVerdict(evaluate(run.policy, recordedFacts(fact, run.policy, tool, grants), grants));
}

function toVerdict({
  decision,
  chain,
  reason,
}: Pick<Judged["data"], "decision" | "chain" | "reason">): WhatIfVerdict {
  const { layer = "", rule = "", origin } = findDecisive(chain) ?? {};
  return { decision, layer, rule, reason, origin };
}

function explainAbsence({ surface, policy }: Run, tool: RegisteredTool): WhatIfVerdict | undefined {
  const standing = surface.standing.get(tool.name);
  if (standing?.state !== "excluded") return undefined;
  const { reason, detail } = standing;
  const rule =
    reason === "policy_blocked" ? staticVerdict(policy, toolFacts(policy, tool)).rule : reason;
  const origin = findOrigin(policy, rule);
  return { decision: "deny", layer: "surface", rule, reason: detail, origin };
}

function judgeStatically(policy: Policy, tool: RegisteredTool): WhatIfVerdict {
  const { verdict, rule, reason } = staticVerdict(policy, toolFacts(policy, tool));
  const decision = verdict === "allowed" ? "allow" : verdict === "denied" ? "deny" : "ask";
  return { decision, layer: "tool", rule, reason, origin: findOrigin(policy, rule) };
}

function findOrigin({ input }: Policy, rule: string): RuleOrigin | undefined {
  const [, index] = /^rules\[(\d+)\]$/.exec(rule) ?? [];
  return index === undefined ? undefined : input.rules?.[Number(index)]?.origin;
}

/** What the call was judged on. Of a server's tool, what it is remains the user's word. */
function recordedFacts(
  { data }: Judged,
  policy: Policy,
  tool: RegisteredTool,
  grants: Grants,
): PermissionFacts {
  const { resources, hosts, planned_destructive, chain, grant_id } = data;
  const isServer = tool.source.kind === "mcp";
  const effects = isServer ? effectsUnder(policy, tool) : (data.effects ?? tool.effects.worst);
  const hook = chain.find(({ layer }) => layer === "hook");
  return {
    tool_name: tool.name,
    permission: effects.read_only ? "readonly" : "write",
    tags: tool.tags,
    source_kind: tool.source.kind,
    source_id: tool.source.id,
    trust: tool.trust,
    effects,
    resources,
    hosts,
    planned_destructive,
    hook: hook && {
      decision: "ask",
      reason: hook.reason,
      hook: hook.rule.replace(/^hook:/, ""),
      unspelled: hook.unspelled === true ? true : undefined,
    },
    // Only a call that a grant was counted for has one to be compared with.
    input_digest: () => readDigest(grants.list().find((grant) => grant.grant_id === grant_id)),
  };
}

function readDigest(grant: ToolGrant | undefined): string {
  const scope = grant?.scopes.find(({ kind }) => kind === "input");
  return scope?.kind === "input" ? scope.digest : "";
}
