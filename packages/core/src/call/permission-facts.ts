// What a call would touch and how risky it is (PERM-1): facts, apart from any decision about them.

import { hostOf, type PermissionFacts } from "../permission/index.ts";
import type { JsonObject, JsonSchema, JsonValue } from "@soong/schema";
import { recordable } from "../result/index.ts";
import { digestOf, type RunContext } from "../tool/index.ts";
import { resourcesOf, toolOf, type Call } from "./call.ts";
import { addedResources } from "./plan-call.ts";

/** Under this name the context of a run has who requested which tools: names of skills, by tool. */
export const TOOL_REQUESTS = "tool_requests";

export function permissionFacts(call: Call, context: RunContext): PermissionFacts {
  const tool = toolOf(call);
  const { effects } = call;
  return {
    tool_name: tool.name,
    permission: effects.read_only ? "readonly" : "write",
    tags: tool.tags,
    source_kind: tool.source.kind,
    source_id: tool.source.id,
    trust: tool.trust,
    effects,
    resources: resourcesOf(call),
    hosts: hostsOf(call),
    planned_destructive: plannedDestructive(call),
    hook: call.hookVerdict,
    requested_by: requestsOf(call.tool_name, context),
    why_not_read_only: whyNotReadOnly(call),
    input_digest: () => inputDigest(call),
  };
}

/** A command says of itself why it is not proven to only read (PERM-17). */
function whyNotReadOnly({ targets, tool }: Call): string | undefined {
  const { facts } = targets ?? {};
  if (tool?.source.trusted !== true || typeof facts !== "object" || facts === null)
    return undefined;
  const why = Array.isArray(facts) ? undefined : facts["why_not_read_only"];
  return typeof why === "string" ? why : undefined;
}

function requestsOf(tool_name: string, context: RunContext): readonly string[] | undefined {
  const requests = context[TOOL_REQUESTS];
  if (typeof requests !== "object" || requests === null || Array.isArray(requests))
    return undefined;
  const names = Object.hasOwn(requests, tool_name) ? requests[tool_name] : undefined;
  return Array.isArray(names) ? names.map(String) : undefined;
}

/** Until there is a plan nothing is held against the call that only the plan can tell. */
function plannedDestructive({ plan, targets, effects, tool }: Call): boolean | undefined {
  if (plan !== undefined) return plan.destructive;
  if (targets?.destructive !== undefined) return targets.destructive;
  const isPending = tool?.definition.prepare !== undefined && !effects.read_only;
  return isPending ? false : undefined;
}

/** A tool without targets names its host in its plan: that it is not known yet is not held against it. */
export function isFinalDeny(
  call: Call,
  { facts, judgement }: NonNullable<Call["judged"]>,
): boolean {
  const { definition } = toolOf(call);
  const isPlanner = definition.targets === undefined && definition.prepare !== undefined;
  const isPending = call.plan === undefined && isPlanner;
  const isAboutHost = judgement.code === "host_not_allowed" && facts.hosts === "unknown";
  return judgement.decision === "deny" && !(isPending && isAboutHost);
}

/** Whether the plan, or a guard that ran after it, is something to judge that was not judged yet. */
export function planAdds(call: Call, judged: PermissionFacts): boolean {
  const { plan, effects } = call;
  return (
    call.hookVerdict !== judged.hook ||
    addedResources(call).length > 0 ||
    (plan?.destructive ?? effects.destructive) !==
      (judged.planned_destructive ?? effects.destructive)
  );
}

/** The digest an approval is bound to: the plan's, or that of the input for a tool without one. */
export function callDigest(call: Call): string {
  return call.plan?.digest ?? inputDigest(call);
}

function inputDigest(call: Call): string {
  return digestOf({ tool_name: call.tool_name, input: recordable(call.input) });
}

const NO_HOSTS: readonly string[] = [];

/** From the plan, the server's url, the tool's metadata, or a uri in the input (PERM-10). */
function hostsOf(call: Call): readonly string[] | "unknown" {
  const tool = toolOf(call);
  const isNetwork = tool.tags.includes("network");
  const planned = resourcesOf(call);
  if (!isNetwork && !planned.some(({ kind }) => kind === "host")) return NO_HOSTS;
  const hosts = new Set<string>();
  for (const resource of planned) if (resource.kind === "host") hosts.add(resource.host);
  if (tool.source.host !== undefined) hosts.add(tool.source.host);
  const named = tool.definition.metadata?.["host"];
  if (typeof named === "string") hosts.add(named.toLowerCase());
  let unknown = false;
  for (const uri of urisIn(call.input, tool.input.original)) {
    const host = hostOf(uri);
    if (host === undefined) unknown = true;
    else hosts.add(host);
  }
  return unknown || hosts.size === 0 ? "unknown" : [...hosts].toSorted();
}

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const URI_FIELD = /^(?:.*_)?(?:uri|url|href|endpoint)s?$/i;

/** Every address in the input, at any depth: by its field's name or format, or by what it looks like. */
function urisIn(input: JsonObject, schema: JsonSchema): string[] {
  const properties = (schema["properties"] ?? {}) as Record<
    string,
    { format?: unknown } | undefined
  >;
  const found: string[] = [];
  for (const [field, value] of Object.entries(input)) {
    const format = Object.hasOwn(properties, field) ? properties[field]?.format : undefined;
    collect(value, format === "uri" || format === "url" || URI_FIELD.test(field), found);
  }
  return found;
}

/** Depth is bounded by the limits on arguments. */
function collect(value: JsonValue, isAddress: boolean, found: string[]): void {
  if (typeof value === "string") {
    if (isAddress || HAS_SCHEME.test(value)) found.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, isAddress, found);
  } else if (typeof value === "object" && value !== null) {
    for (const [field, item] of Object.entries(value)) {
      collect(item, isAddress || URI_FIELD.test(field), found);
    }
  }
}
