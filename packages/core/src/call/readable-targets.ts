// Whether the model may know what planning found out about a call's targets: it may, if it could read them itself
// without anybody being asked (PIPE-9).

import { evaluate, NO_GRANTS, type PermissionFacts } from "../permission/index.ts";
import type { RegisteredTool } from "../registry/index.ts";
import type { Preview, Resource } from "../tool/index.ts";
import { resourcesOf, toolOf, type Call } from "./call.ts";
import { placesOf } from "./context.ts";
import type { RunAuthority, RunTools } from "./host.ts";
import { permissionFacts } from "./permission-facts.ts";
import { addedResources } from "./plan-call.ts";

type ReadingHost = RunAuthority & RunTools;

/** The tools by which a model reads and lists; rules may speak of them by name. */
const READERS = ["code.read_file", "code.list_dir", "code.search"];

/** Why a call cannot be planned may be told at once: neither a rule, a guard nor the boundary restricts its targets. */
export function mayReadTargets(host: ReadingHost, call: Call): boolean {
  const { resources = [] } = call.targets ?? {};
  const places = resources.flatMap(placesOfResource);
  // A host cannot be looked at first.
  const isAll = resources.length > 0 && resources.every(({ kind }) => kind !== "host");
  return isAll && call.hookVerdict === undefined && mayRead(host, call, places);
}

/** What the preview shows is for the eyes of the person who is asked, and for no record, hook or relay. */
export function isPrivatePreview(host: ReadingHost, call: Call, preview: Preview): boolean {
  if (preview.kind === "command") return false;
  const places = resourcesOf(call).filter((resource) => resource.kind === "path");
  return places.length > 0 && !mayRead(host, call, places);
}

/** The plan adds nothing to the targets but what it saw there, and a person has to say yes to them in any case. */
export function isUntoldBeforeYes(
  host: ReadingHost,
  call: Call,
  { facts, judgement }: NonNullable<Call["judged"]>,
): boolean {
  return (
    judgement.decision === "ask" &&
    call.plan?.preview !== undefined &&
    call.hookVerdict === facts.hook &&
    addedResources(call).length === 0 &&
    isPrivatePreview(host, call, call.plan.preview)
  );
}

type Path = Extract<Resource, { kind: "path" }>;

function placesOfResource(resource: Resource): Path[] {
  if (resource.kind === "path") return [resource];
  if (resource.kind === "host") return [];
  return [resource.cwd, resource.executable].map((path) => ({
    kind: "path",
    access: "list",
    path,
  }));
}

function mayRead(host: ReadingHost, call: Call, places: readonly Path[]): boolean {
  const own = toolOf(call);
  const readers = READERS.flatMap((name) => host.current(name) ?? []);
  return [own, ...readers].every((tool) => {
    const { restrictedBy } = placesOf(host, tool);
    return (["read", "list"] as const).every((access) => {
      const isRestricted = places.some(
        ({ path, ignores_case }) => restrictedBy(path, access, ignores_case) !== undefined,
      );
      const facts = readingFacts(call, tool, access, places);
      return !isRestricted && evaluate(host.policy, facts, NO_GRANTS).decision === "allow";
    });
  });
}

/** The same places, read by this tool: a yes to a change is none to reading, so no grant counts. */
function readingFacts(
  call: Call,
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
