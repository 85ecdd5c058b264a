// The effective policy of a run: checked and compiled once, then frozen (PERM-9). Nothing outside this
// module can make or change one, so what is recorded with the run is what judged it.

import {
  type NamePattern,
  type Roots,
  type SandboxMode,
  isExactName,
  matchesName,
} from "../tool/index.ts";
import { type Boundary, compileBoundary } from "./boundary.ts";
import type { Mode } from "./decision.ts";
import type { ToolFacts } from "./facts.ts";
import { type PolicyProblem, policyProblems } from "./policy-problems.ts";
import { linkedPrefix, pathPatternProblem, patternPlaces } from "./path-pattern.ts";
import {
  builtInSensitivePaths,
  linkedSensitivePrefixes,
  sensitivePatternProblem,
} from "./sensitive-paths.ts";
import type { PermissionRule } from "./permission-rule.ts";
import { type CompiledRule, compileRule } from "./compile-rule.ts";
import { type JsonObject, asJson, omitUndefined } from "@soong/schema";

export interface PolicyInput {
  readonly rules?: readonly PermissionRule[];
  readonly mode?: Mode;
  readonly destructive?: "ask" | "deny";
  /** Whether a command that is proven to only read runs without approval (CMD-4). Default: `allow`. */
  readonly read_only_commands?: "allow" | "ask";
  readonly network?: NetworkPolicy;
  readonly sandbox?: SandboxPolicy;
  readonly roots?: Roots;
  /** Never written to, with any rules (PERM-14). */
  readonly protected_roots?: readonly string[];
  /** Globs, added to the built-in list. */
  readonly sensitive_paths?: readonly string[];
  readonly home?: string;
  readonly case_insensitive_paths?: boolean;
  /** MCP tools the user marked readonly. A pattern does not reach a tool that warns of itself; its name does. */
  readonly readonly_mcp?: readonly NamePattern[];
  /** Where the links in the literal part of a rule's path lead (PERM-15), by that part: see `readLinks`. */
  readonly links?: Readonly<Record<string, string>>;
  /** Given when writing there is ordinary. */
  readonly tmp_dir?: string;
  /** The parent's policy: a child is never judged more leniently (PERM-12). */
  readonly ceiling?: Policy;
}

export interface SandboxPolicy {
  /** Default: `on`. */
  readonly mode?: SandboxMode;
  /** In the sandbox a command needs no approval, unless a rule, the runtime or a hook asks. Default: false. */
  readonly auto_allow?: boolean;
  /** By tool: of several patterns that fit, the longest counts. */
  readonly tools?: Readonly<Record<string, SandboxMode>>;
}

export interface NetworkPolicy {
  /** `hosts`: the listed ones and no others. `default`: ask, except for listed ones. */
  readonly mode: "off" | "ask" | "hosts" | "default";
  readonly hosts?: readonly string[];
}

export interface Policy {
  readonly mode: Mode;
  readonly destructive: "ask" | "deny";
  readonly read_only_commands: "allow" | "ask";
  readonly network: Required<NetworkPolicy>;
  readonly sandbox: Required<SandboxPolicy>;
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
  // A copy, so that no one holds a handle on what the run is judged by.
  const { ceiling, ...own } = input;
  const kept: PolicyInput = frozenCopy(own);
  const boundary = compileBoundary(kept);
  const places = { ...patternPlaces(kept), boundary };
  const policy: Policy = Object.freeze({
    mode: kept.mode ?? "normal",
    destructive: kept.destructive ?? "ask",
    read_only_commands: kept.read_only_commands ?? "allow",
    network: Object.freeze({
      mode: kept.network?.mode ?? "default",
      hosts: kept.network?.hosts ?? [],
    }),
    sandbox: Object.freeze({
      mode: kept.sandbox?.mode ?? "on",
      auto_allow: kept.sandbox?.auto_allow ?? false,
      tools: kept.sandbox?.tools ?? {},
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
function linkedPaths(input: PolicyInput): string[] {
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

/** Where the paths of rules lead now. It is recorded with the policy: a replay judges by the same places. */
export function readLinks(
  input: PolicyInput,
  resolvePath: (path: string) => string | undefined,
): Record<string, string> {
  const links: Record<string, string> = {};
  for (const path of linkedPaths(input)) {
    const real = resolvePath(path);
    if (real !== undefined && real !== path) links[path] = real;
  }
  return { ...input.links, ...links };
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

export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const copy = Array.isArray(value)
    ? value.map(frozenCopy)
    : Object.fromEntries(entries.map(([key, item]) => [key, frozenCopy(item)]));
  return Object.freeze(copy) as T;
}

// A policy as a record (PERM-9): kept with the run, printed for users, and compiled again by replay
// (REPLAY-1), which must judge as the run was judged.

/** Always the same keys in the same order, every default filled in. */
export function describePolicy(policy: Policy): JsonObject {
  const { input } = policy;
  const record = {
    mode: policy.mode,
    destructive: policy.destructive,
    read_only_commands: policy.read_only_commands,
    network: { mode: policy.network.mode, hosts: policy.network.hosts },
    sandbox: policy.sandbox,
    rules: (input.rules ?? []).map((rule) => ({ ...rule })),
    roots: input.roots ?? null,
    tmp_dir: input.tmp_dir ?? null,
    protected_roots: input.protected_roots ?? [],
    sensitive_paths: input.sensitive_paths ?? [],
    built_in_sensitive_paths: builtInSensitivePaths(),
    home: input.home ?? null,
    links: input.links ?? {},
    case_insensitive_paths: input.case_insensitive_paths ?? false,
    readonly_mcp: input.readonly_mcp ?? [],
    ceiling: policy.ceiling === undefined ? null : describePolicy(policy.ceiling),
  };
  return asJson(record);
}

/** The policy a record was made from. */
export function compileRecordedPolicy(record: JsonObject): CompiledPolicy {
  const { ceiling, built_in_sensitive_paths: _builtIn, ...rest } = record;
  const given = Object.entries(rest).filter(([, value]) => value !== null);
  // Before there was this setting, every command asked.
  const input = { read_only_commands: "ask", ...Object.fromEntries(given) } as PolicyInput;
  if (ceiling === null || ceiling === undefined) return compilePolicy(input);
  const parent = compileRecordedPolicy(ceiling as JsonObject);
  return parent.ok ? compilePolicy({ ...input, ceiling: parent.policy }) : parent;
}

// The policy of a session and what one run adds to it. Rules are of one layer and simply come together;
// of every other setting the stricter one holds, so that no run takes back what its session forbids.

export function mergePolicies(session: PolicyInput, run: PolicyInput): PolicyInput {
  const network = stricterNetwork(session.network, run.network);
  const readonlyMcp = session.readonly_mcp ?? run.readonly_mcp;
  return {
    ...run,
    ...session,
    rules: [...(session.rules ?? []), ...(run.rules ?? [])],
    destructive: session.destructive === "deny" || run.destructive === "deny" ? "deny" : "ask",
    read_only_commands:
      session.read_only_commands === "ask" || run.read_only_commands === "ask" ? "ask" : "allow",
    ...omitUndefined({ network, sandbox: stricterSandbox(session.sandbox, run.sandbox) }),
    protected_roots: [...(session.protected_roots ?? []), ...(run.protected_roots ?? [])],
    sensitive_paths: [...(session.sensitive_paths ?? []), ...(run.sensitive_paths ?? [])],
    ...(session.links === undefined && run.links === undefined
      ? {}
      : { links: { ...run.links, ...session.links } }),
    ...omitUndefined({ readonly_mcp: readonlyMcp }),
    case_insensitive_paths:
      session.case_insensitive_paths === true || run.case_insensitive_paths === true,
  };
}

const MODE_STRICTNESS = { off: 0, on: 1, required: 2 } as const;

export function isStricterMode(a: SandboxMode, b: SandboxMode): boolean {
  return MODE_STRICTNESS[a] > MODE_STRICTNESS[b];
}

function stricterSandbox(
  session: SandboxPolicy | undefined,
  run: SandboxPolicy | undefined,
): SandboxPolicy | undefined {
  if (session === undefined || run === undefined) return session ?? run;
  const { mode = "on", auto_allow = false, tools = {} } = session;
  const isStricter = isStricterMode(run.mode ?? "off", mode);
  return {
    mode: isStricter ? (run.mode ?? mode) : mode,
    auto_allow: auto_allow && run.auto_allow !== false,
    tools: isStricter ? {} : tools,
  };
}

const STRICTNESS = { default: 0, ask: 1, hosts: 2, off: 3 } as const;

function stricterNetwork(
  session: NetworkPolicy | undefined,
  run: NetworkPolicy | undefined,
): NetworkPolicy | undefined {
  if (session === undefined || run === undefined) return session ?? run;
  if (session.mode === run.mode) {
    // Only hosts both of them list: a list allows, and each allows no more than it says.
    const listed =
      run.hosts === undefined
        ? session.hosts
        : session.hosts?.filter((host) => run.hosts?.includes(host));
    return listed === undefined ? { mode: session.mode } : { mode: session.mode, hosts: listed };
  }
  return STRICTNESS[session.mode] > STRICTNESS[run.mode] ? session : run;
}
