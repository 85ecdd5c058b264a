// What a call would touch and how risky it is (PERM-1): facts, apart from any decision about them. And whether the model may
// know what planning found out about its targets: it may, if it could read them itself without approval (PIPE-9).

import { asRecord, type JsonObject, type JsonSchema, type JsonValue } from "@soong/schema";
import { evaluate, hostOf, NO_GRANTS, type PermissionFacts } from "../permission/index.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { recordable } from "../result/read-return.ts";
import { digestOf, type Preview, type Resource, type RunContext } from "../tool/index.ts";
import { listResources, type AcceptedCall, type Call, type Judged } from "./call.ts";
import { createPlaces } from "./context.ts";
import { addedResources } from "./plan-call.ts";

/** Under this name the context of a run has who requested which tools: names of skills, by tool. */
export const TOOL_REQUESTS = "tool_requests";

export function permissionFacts(call: AcceptedCall, context: RunContext): PermissionFacts {
  const { effects, tool } = call;
  return {
    tool_name: tool.name,
    permission: effects.read_only ? "readonly" : "write",
    tags: tool.tags,
    source_kind: tool.source.kind,
    source_id: tool.source.id,
    trust: tool.trust,
    effects,
    resources: listResources(call),
    hosts: findHosts(call),
    planned_destructive: plannedDestructive(call),
    hook: call.hookVerdict,
    requested_by: findRequests(call.tool_name, context),
    why_not_read_only: whyNotReadOnly(call),
    input_digest: () => inputDigest(call),
  };
}

/** Whether nothing but the tool, its effects and the run says what the call is judged on: not its input, a hook or a plan. */
export function hasPlainFacts(call: AcceptedCall): boolean {
  const { targets, plan, hookVerdict, mutated, tool, record } = call;
  return (
    targets === undefined &&
    plan === undefined &&
    hookVerdict === undefined &&
    !mutated &&
    record.evaluated === undefined &&
    tool.definition.prepare === undefined &&
    !tool.tags.includes("network")
  );
}

/** A command says of itself why it is not proven to only read (PERM-17). */
function whyNotReadOnly({ targets, tool }: AcceptedCall): string | undefined {
  const { why_not_read_only: why } = asRecord(targets?.facts);
  return tool.source.trusted && typeof why === "string" ? why : undefined;
}

function findRequests(tool_name: string, context: RunContext): readonly string[] | undefined {
  const requests = asRecord(context[TOOL_REQUESTS]);
  const names = Object.hasOwn(requests, tool_name) ? requests[tool_name] : undefined;
  return Array.isArray(names) ? names.map(String) : undefined;
}

/** Until there is a plan nothing is held against the call that only the plan can tell. */
function plannedDestructive({ plan, targets, effects, tool }: AcceptedCall): boolean | undefined {
  if (plan !== undefined) return plan.destructive;
  if (targets?.destructive !== undefined) return targets.destructive;
  const isPending = tool.definition.prepare !== undefined && !effects.read_only;
  return isPending ? false : undefined;
}

/** A tool without targets names its host in its plan: that it is not known yet is not held against it. */
export function isFinalDeny(call: AcceptedCall, { facts, judgement }: Judged): boolean {
  const { definition } = call.tool;
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
function findHosts(call: AcceptedCall): readonly string[] | "unknown" {
  const { tool } = call;
  const isNetwork = tool.tags.includes("network");
  const planned = listResources(call);
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
  const properties = asRecord(schema["properties"]);
  const found: string[] = [];
  for (const [field, value] of Object.entries(input)) {
    const { format } = asRecord(Object.hasOwn(properties, field) ? properties[field] : undefined);
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

/** The tools by which a model reads and lists; rules may speak of them by name. */
const READERS = ["code.read_file", "code.list_dir", "code.search"];

/** Why a call cannot be planned may be reported at once: neither a rule, a guard nor the boundary restricts its targets. */
export function mayReadTargets(call: AcceptedCall): boolean {
  const { resources = [] } = call.targets ?? {};
  const places = resources.flatMap(placesOfResource);
  // A host cannot be looked at first.
  const isAll = resources.length > 0 && resources.every(({ kind }) => kind !== "host");
  return isAll && call.hookVerdict === undefined && mayRead(call, places);
}

/** What the preview shows is for the eyes of the user who is asked, and for no record, hook or relay. */
export function isPrivatePreview(call: AcceptedCall, preview: Preview): boolean {
  if (preview.kind === "command") return false;
  const places = listResources(call).filter((resource) => resource.kind === "path");
  return places.length > 0 && !mayRead(call, places);
}

/** The plan adds nothing to the targets but what it saw there, and they require approval in any case. */
export function isHiddenBeforeYes(call: AcceptedCall, { facts, judgement }: Judged): boolean {
  return (
    judgement.decision === "ask" &&
    call.plan?.preview !== undefined &&
    call.hookVerdict === facts.hook &&
    addedResources(call).length === 0 &&
    isPrivatePreview(call, call.plan.preview)
  );
}

type Path = Extract<Resource, { kind: "path" }>;

function placesOfResource(resource: Resource): Path[] {
  if (resource.kind === "path") return [resource];
  if (resource.kind === "host") return [];
  const paths = [resource.cwd, resource.executable];
  return paths.map((path) => ({ kind: "path", access: "list", path }));
}

function mayRead(call: AcceptedCall, places: readonly Path[]): boolean {
  const { run } = call;
  const readers = READERS.flatMap((name) => run.registry.current(name) ?? []);
  return [call.tool, ...readers].every((tool) => {
    const { restrictedBy } = createPlaces(run, tool);
    return (["read", "list"] as const).every((access) => {
      const isRestricted = places.some(
        ({ path, ignores_case }) => restrictedBy(path, access, ignores_case) !== undefined,
      );
      const facts = readingFacts(call, tool, access, places);
      return !isRestricted && evaluate(run.policy, facts, NO_GRANTS).decision === "allow";
    });
  });
}

/** The same places, read by this tool: a yes to a change is none to reading, so no grant counts. */
function readingFacts(
  call: AcceptedCall,
  tool: RegisteredTool,
  access: "read" | "list",
  places: readonly Path[],
): PermissionFacts {
  const { hook: _hook, ...facts } = permissionFacts(call, {});
  return {
    ...facts,
    tool_name: tool.name,
    tags: tool.tags.filter((tag) => tag !== "write" && tag !== "dangerous"),
    source_kind: tool.source.kind,
    source_id: tool.source.id,
    permission: "readonly",
    effects: { ...call.effects, read_only: true, destructive: false },
    resources: places.map((place) => ({ ...place, access })),
    hosts: [],
  };
}
