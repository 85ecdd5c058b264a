// The effective policy of a run: checked and compiled once, then frozen (PERM-9). Nothing outside this
// module can make or change one, so what is recorded with the run is what judged it.

import { type NamePattern, type Roots, isExactName, matchesName } from "../tool/index.ts";
import { type Boundary, compileBoundary } from "./boundary.ts";
import type { Mode } from "./decision.ts";
import type { ToolFacts } from "./facts.ts";
import type { PolicyProblem } from "./policy-problems.ts";
import { linkedPrefix, pathPatternProblem, patternPlaces } from "./path-pattern.ts";
import { linkedSensitivePrefixes, sensitivePatternProblem } from "./sensitive-paths.ts";
import { policyProblems } from "./policy-problems.ts";
import type { PermissionRule } from "./permission-rule.ts";
import { type CompiledRule, compileRule } from "./compile-rule.ts";

export interface PolicyInput {
  readonly rules?: readonly PermissionRule[];
  readonly mode?: Mode;
  readonly destructive?: "ask" | "deny";
  readonly network?: NetworkPolicy;
  readonly roots?: Roots;
  /** Never written to, whatever the rules (PERM-14). */
  readonly protected_roots?: readonly string[];
  /** Globs, added to the built-in list. */
  readonly sensitive_paths?: readonly string[];
  readonly home?: string;
  readonly case_insensitive_paths?: boolean;
  /** MCP tools the user marked readonly. A pattern does not reach a tool that warns of itself; its name does. */
  readonly readonly_mcp?: readonly NamePattern[];
  /** Where the links in the literal part of a rule's path lead (PERM-15), by that part: see `linkedPaths`. */
  readonly links?: Readonly<Record<string, string>>;
  /** Given when writing there is ordinary. */
  readonly tmp_dir?: string;
  /** The parent's policy: a child is never judged more leniently (PERM-12). */
  readonly ceiling?: Policy;
}

export interface NetworkPolicy {
  /** `hosts`: the listed ones and no others. `default`: ask, except for listed ones. */
  readonly mode: "off" | "ask" | "hosts" | "default";
  readonly hosts?: readonly string[];
}

export interface Policy {
  readonly mode: Mode;
  readonly destructive: "ask" | "deny";
  readonly network: Required<NetworkPolicy>;
  readonly rules: readonly CompiledRule[];
  readonly boundary: Boundary;
  readonly ceiling: Policy | undefined;
  /** What it was compiled from, with every default filled in. */
  readonly input: PolicyInput;
}

export type CompiledPolicy =
  | { ok: true; policy: Policy }
  | { ok: false; problems: PolicyProblem[] };

/** Checks a policy and prepares it for `evaluate`. */
export function compilePolicy(input: PolicyInput): CompiledPolicy {
  const problems = policyProblems(input, isPolicy);
  if (problems.length > 0) return { ok: false, problems };
  // A copy, so that nobody holds a handle on what the run is judged by.
  const { ceiling, ...own } = input;
  const kept: PolicyInput = frozenCopy(own);
  const boundary = compileBoundary(kept);
  const places = { ...patternPlaces(kept), boundary };
  const policy: Policy = Object.freeze({
    mode: kept.mode ?? "normal",
    destructive: kept.destructive ?? "ask",
    network: Object.freeze({
      mode: kept.network?.mode ?? "default",
      hosts: kept.network?.hosts ?? [],
    }),
    rules: Object.freeze(
      (kept.rules ?? []).map((rule, index) => compileRule(rule, `rules[${index}]`, places)),
    ),
    boundary,
    ceiling,
    input: kept,
  });
  compiled.add(policy);
  return { ok: true, policy };
}

/** The literal parts of the paths of all that restricts: what they lead to goes into `links`. */
export function linkedPaths(input: PolicyInput): string[] {
  const places = patternPlaces({ ...input, links: undefined });
  const paths = (input.rules ?? []).flatMap(({ path, decision }) =>
    typeof path !== "string" || decision === "allow" || pathPatternProblem(path, places)
      ? []
      : [linkedPrefix(path, places)],
  );
  const extra = (input.sensitive_paths ?? []).filter(
    (pattern) => sensitivePatternProblem(pattern, places) === undefined,
  );
  return [...new Set([...paths, ...linkedSensitivePrefixes({ ...places, extra })])];
}

export function isPolicy(value: unknown): value is Policy {
  return typeof value === "object" && value !== null && compiled.has(value);
}

/** Whether the user marked this MCP tool readonly: through its source, or in the policy (MCP-6). */
export function isMarkedReadonly(
  policy: Policy,
  { tool_name, source_kind, trust }: Pick<ToolFacts, "tool_name" | "source_kind" | "trust">,
): boolean {
  if (source_kind !== "mcp") return false;
  if (trust === "vouched") return true;
  const marks = policy.input.readonly_mcp ?? [];
  return marks.some(
    (mark) => matchesName(mark, tool_name) && (trust !== "warned" || isExactName(mark)),
  );
}

const compiled = new WeakSet<object>();

function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const copy = Array.isArray(value)
    ? value.map(frozenCopy)
    : Object.fromEntries(entries.map(([key, item]) => [key, frozenCopy(item)]));
  return Object.freeze(copy) as T;
}
