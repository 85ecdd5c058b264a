// How a server is described: in facts, and in its status.

import type { FactContent, FactType } from "@soong/core";
import { definitionHash, safeLine, type Catalog } from "../catalog/index.ts";
import type { ConnectedServer } from "../connection/index.ts";

type ServerFactType = Exclude<Extract<FactType, `mcp.server.${string}`>, "mcp.server.elicitation">;

/** One fact of a server, before it is recorded. */
export type ServerFact = FactContent<ServerFactType>;

export type RecordServerFact = (fact: ServerFact) => void;

const MAX_NAMES = 50;

export function describeServer({ protocol_version, server_info }: ConnectedServer) {
  const { name, version } = server_info;
  return {
    protocol_version,
    server_info: { name: safeLine(name, 200), version: safeLine(version, 100) },
  };
}

/** By the server's own names; of many only the first. */
export function changesBetween(before: Catalog, after: Catalog) {
  const added: string[] = [];
  const changed: string[] = [];
  for (const [name, tool] of after.offered) {
    const old = before.offered.get(name);
    if (old === undefined) added.push(name);
    else if (definitionHash(old) !== definitionHash(tool)) changed.push(name);
  }
  const removed = [...before.offered.keys()].filter((name) => !after.offered.has(name));
  return {
    tools: after.tools.length,
    added: added.slice(0, MAX_NAMES),
    removed: removed.slice(0, MAX_NAMES),
    changed: changed.slice(0, MAX_NAMES),
  };
}
