// The facts a call is judged on (PERM-1), and what they amount to: does it write, destroy, reach the
// network, and which hosts. No opinion is formed here.

import type { Effects, Permission, Resource, SourceKind, ToolTrust } from "../tool/index.ts";
import { canonicalHost } from "./host.ts";
import { isRecord } from "@soong/schema";
import { pathProblem, quote } from "./path.ts";

export interface PermissionFacts {
  readonly tool_name: string;
  readonly permission: Permission;
  readonly tags: readonly string[];
  readonly source_kind: SourceKind;
  readonly source_id: string;
  readonly trust?: ToolTrust;
  /** Of this call, after classify. */
  readonly effects: Omit<Effects, "repeatable">;
  readonly resources: readonly Resource[];
  /** From the server's url, the tool's metadata or a uri input; unknown when none could be determined. */
  readonly hosts: readonly string[] | "unknown";
  /** What the plan says of this very call; omitted, the effects stand. */
  readonly planned_destructive?: boolean;
  readonly hook?: {
    readonly decision: "ask" | "deny";
    readonly reason: string;
    readonly hook: string;
    /** It was not run: the command may reach what it guards. A rule that spells the command out answers that. */
    readonly unspelled?: true;
  };
  /** Why the tool does not prove this call to only read, as a sentence. */
  readonly why_not_read_only?: string;
  /** Loaded skills that request this tool. A request is no permission: it is on record, and decides nothing. */
  readonly requested_by?: readonly string[];
  /** Asked for only when a call without targets needs a scope. */
  readonly input_digest?: () => string;
}

export type PathResource = Extract<Resource, { kind: "path" }>;
export type CommandResource = Extract<Resource, { kind: "command" }>;

/** What is known of a tool before any input. */
export type ToolFacts = Pick<
  PermissionFacts,
  "tool_name" | "permission" | "tags" | "source_kind" | "source_id" | "trust" | "effects"
>;

/** A call as the layers see it. */
export interface Subject {
  readonly tool: ToolFacts;
  readonly readOnly: boolean;
  readonly whyNotReadOnly?: string;
  readonly destructive: boolean;
  readonly dangerous: boolean;
  readonly network: boolean;
  readonly resources: readonly Resource[];
  /** Why one of the resources was omitted from `resources`: such a call is refused. */
  readonly malformed: string | undefined;
  readonly hosts: CallHosts;
  /** Its command would run in a sandbox (CMD-6). */
  readonly isSandboxed: boolean;
  /** It would run outside of the sandbox, because the model wants it to. */
  readonly leavesSandbox?: true;
  /** Why there is none, where it is required. */
  readonly sandboxMissing?: string;
}

export interface CallHosts {
  readonly known: readonly string[];
  /** There may be hosts beside the known ones. */
  readonly unknown: boolean;
}

/**
 * `markedReadonly`: the user said so of this MCP tool; a server's own word is not enough (MCP-6). `trustsProofs`: a command
 * that is proven to only read is not dangerous (CMD-4, PERM-7).
 */
export function subjectOfCall(
  facts: PermissionFacts,
  { markedReadonly, trustsProofs }: { markedReadonly: boolean; trustsProofs: boolean },
): Subject {
  const readOnly = isReadOnly(facts, markedReadonly);
  const { resources, malformed } = wellFormed(facts.resources);
  const network = isTaggedNetwork(facts) || facts.hosts === "unknown" || resources.some(isHost);
  return {
    tool: facts,
    readOnly,
    ...(facts.why_not_read_only === undefined ? {} : { whyNotReadOnly: facts.why_not_read_only }),
    destructive: !readOnly && (facts.planned_destructive ?? facts.effects.destructive),
    dangerous:
      facts.tags.includes("dangerous") &&
      !(trustsProofs && readOnly && isCommandOfCode(facts.source_kind, resources)),
    network,
    resources,
    malformed,
    hosts: hostsOfCall(facts.hosts, resources, network),
    isSandboxed: false,
  };
}

/** Before any input: nothing is touched yet, and only effects that no call escapes are counted. */
export function subjectOfTool(
  tool: ToolFacts,
  about: { markedReadonly: boolean; effectsFixed: boolean },
): Subject {
  const readOnly = isReadOnly(tool, about.markedReadonly);
  return {
    tool,
    readOnly,
    destructive: about.effectsFixed && !readOnly && tool.effects.destructive,
    dangerous: tool.tags.includes("dangerous"),
    network: isTaggedNetwork(tool),
    resources: [],
    malformed: undefined,
    hosts: NO_HOSTS,
    isSandboxed: false,
  };
}

/** Soong's own bookkeeping has no outside effect (SURF-10). */
export function isOwnSource(kind: SourceKind): boolean {
  return kind === "agent" || kind === "internal";
}

const NO_HOSTS: CallHosts = Object.freeze({ known: [], unknown: false });
const UNKNOWN_HOSTS: CallHosts = Object.freeze({ known: [], unknown: true });

function hostsOfCall(
  given: readonly string[] | "unknown",
  resources: readonly Resource[],
  network: boolean,
): CallHosts {
  const named = given === "unknown" ? [] : given;
  const planned = resources.length === 0 ? [] : resources.filter(isHost);
  if (planned.length === 0 && named.length === 0) return network ? UNKNOWN_HOSTS : NO_HOSTS;
  const hosts = [...planned.map((resource) => resource.host), ...named].map((host: unknown) =>
    typeof host === "string" ? canonicalHost(host) : undefined,
  );
  return {
    known: [...new Set(hosts.filter((host) => host !== undefined))],
    unknown: given === "unknown" || hosts.includes(undefined),
  };
}

function wellFormed(resources: readonly Resource[]): Pick<Subject, "resources" | "malformed"> {
  for (const resource of resources) {
    const malformed = resourceProblem(resource);
    if (malformed === undefined) continue;
    return {
      resources: resources.filter((other) => resourceProblem(other) === undefined),
      malformed,
    };
  }
  return { resources, malformed: undefined };
}

function isReadOnly(tool: ToolFacts, markedReadonly: boolean): boolean {
  if (isOwnSource(tool.source_kind)) return true;
  if (tool.source_kind === "mcp" && !markedReadonly) return false;
  return tool.effects.read_only;
}

/** Of a program there is a proof, or it counts as a write; what else a dangerous tool says of itself is no proof. */
function isCommandOfCode(kind: SourceKind, resources: readonly Resource[]): boolean {
  return kind === "code" && resources.some((resource) => resource.kind === "command");
}

function isTaggedNetwork(tool: ToolFacts): boolean {
  return tool.tags.includes("network");
}

function isHost(resource: Resource): resource is Extract<Resource, { kind: "host" }> {
  return resource.kind === "host";
}

/** Says why a resource cannot be judged, as a clause; undefined when it can. */
export function resourceProblem(resource: unknown): string | undefined {
  if (!isRecord(resource)) return "a resource is not an object";
  const {
    kind,
    host,
    may_reach: reached = [],
    may_write: written = [],
    reach_inside: inside = [],
  } = resource;
  if (kind === "host") return typeof host === "string" ? undefined : "a host is not text";
  if (kind === "path") {
    const { access, path, also = [] } = resource;
    if (!ACCESS.has(access)) return "a path comes with no known kind of access";
    if (!isList(also)) return "further names of a path are not a list";
    if (!isList(reached)) return "what is below a path is not a list";
    return firstProblem("the path", [path, ...also, ...reached]);
  }
  if (kind !== "command") return "a resource is of no known kind";
  const { argv, config_runs: config, sandbox } = resource;
  if (sandbox !== undefined && !isRecord(sandbox))
    return "what is known of a sandbox is not an object";
  if (!isList(reached) || !isList(written) || !isList(inside)) {
    return "what a command may reach is not a list";
  }
  if (config !== undefined && (!isRecord(config) || typeof config.why !== "string")) {
    return "what the config of a repository runs has no reason";
  }
  if (!isList(argv) || argv.length === 0) return "a command has no argv";
  if (!argv.every((item) => typeof item === "string"))
    return "a command has an item that is not text";
  return (
    firstProblem("the executable", [resource.executable]) ??
    firstProblem("the working directory", [resource.cwd]) ??
    firstProblem("the path", [...reached, ...written, ...inside])
  );
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

const ACCESS: ReadonlySet<unknown> = new Set(["read", "write", "list", "search"]);

function firstProblem(what: string, paths: readonly unknown[]): string | undefined {
  for (const path of paths) {
    const problem = pathProblem(path);
    if (problem === undefined) continue;
    return typeof path === "string" ? `${what} ${quote(path)} ${problem}` : `${what} ${problem}`;
  }
  return undefined;
}
