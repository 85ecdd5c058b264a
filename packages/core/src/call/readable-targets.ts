// Whether the model may know of a call's targets what planning found out about them: it may, if it could read them
// itself without anybody being asked (PIPE-9).

import { evaluate, type PermissionFacts } from "../permission/index.ts";
import type { Resource } from "../tool/index.ts";
import type { Call } from "./call.ts";
import type { CallHost } from "./host.ts";
import { permissionFacts } from "./permission-facts.ts";

/** The tools by which a model reads and lists; rules may speak of them by name. */
const READERS = ["code.read_file", "code.list_dir", "code.search"];

export function mayReadTargets(host: CallHost, call: Call): boolean {
  const places = placesIn(call.targets?.resources ?? []);
  if (places === undefined || places.length === 0) return false;
  const own = permissionFacts(call);
  const tools: Pick<PermissionFacts, "tool_name" | "tags" | "source_kind" | "source_id">[] = [
    { ...own, tags: own.tags.filter((tag) => tag !== "write" && tag !== "dangerous") },
  ];
  for (const name of READERS) {
    const tool = host.current(name);
    if (tool === undefined) continue;
    const { tags, source } = tool;
    tools.push({ tool_name: name, tags, source_kind: source.kind, source_id: source.id });
  }
  const effects = { ...call.effects, read_only: true, destructive: false };
  return tools.every((tool) =>
    (["read", "list"] as const).every((access) => {
      const resources = places.map(({ path, sensitive }): Resource => {
        const kept = sensitive === undefined ? {} : { sensitive };
        return { kind: "path", access, path, ...kept };
      });
      const facts = { ...own, ...tool, permission: "readonly", effects, resources } as const;
      return evaluate(host.policy, { ...facts, hosts: [] }, host.grants).decision === "allow";
    }),
  );
}

type Path = Pick<Extract<Resource, { kind: "path" }>, "path" | "sensitive">;

/** Undefined where there is more to it than reading: a host cannot be looked at first. */
function placesIn(resources: readonly Resource[]): Path[] | undefined {
  const places: Path[] = [];
  for (const resource of resources) {
    if (resource.kind === "host") return undefined;
    if (resource.kind === "path") places.push(resource);
    else {
      places.push({ path: resource.cwd });
      if (resource.executable.startsWith("/")) places.push({ path: resource.executable });
    }
  }
  return places;
}
