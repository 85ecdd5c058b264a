// How many tools of real servers can be offered (MCP-10): `node scripts/run.mjs scripts/measure-catalog.ts FILE…`.
// A file holds one JSON list of tools as servers list them, each optionally with `server`.

import { readFileSync } from "node:fs";
import {
  compilePolicy,
  createRegistry,
  PORTABLE_PROFILE,
  resolveSurface,
  type JsonObject,
} from "@soong/core";
import { buildCatalog } from "../packages/mcp/src/catalog/build-catalog.ts";
import { parseMcpSettings } from "../packages/mcp/src/settings/index.ts";

type Listed = JsonObject & { readonly server?: string };

const byServer = new Map<string, Listed[]>();
for (const file of process.argv.slice(2)) {
  for (const tool of JSON.parse(readFileSync(file, "utf8")) as Listed[]) {
    const server = tool.server ?? file;
    byServer.set(server, [...(byServer.get(server) ?? []), tool]);
  }
}

const ids = [...byServer.keys()].map((_, at) => `s${at}`);
const entries = Object.fromEntries(ids.map((id) => [id, { command: "true" }]));
const settings = parseMcpSettings(JSON.stringify({ mcpServers: entries }), "mcp.json", {});
if (!settings.ok) throw new Error(JSON.stringify(settings.problems));

const registry = createRegistry();
const lost: string[] = [];
for (const [at, tools] of [...byServer.values()].entries()) {
  const entry = settings.servers[at];
  if (entry === undefined) continue;
  const pins = { check: () => ({ kind: "unpinned" }) as const };
  const catalog = buildCatalog(entry, { tools }, pins, () => () => undefined);
  lost.push(...catalog.excluded.map(({ tool_name, detail }) => `${tool_name}: ${detail}`));
  registry.open({ id: entry.server_id, kind: "mcp", tools: catalog.tools });
}
const snapshot = registry.snapshot();
lost.push(...snapshot.excluded.map(({ tool_name, detail }) => `${tool_name}: ${detail}`));

const policy = compilePolicy({});
if (!policy.ok) throw new Error("the empty policy is not one");
const { max_tools: _any, ...profile } = PORTABLE_PROFILE;
const resolved = resolveSurface({
  registry: snapshot,
  role: "main",
  mode: "normal",
  policy: policy.policy,
  profile,
  deferBudgetTokens: Number.POSITIVE_INFINITY,
});
if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
const unsupported = resolved.surface.excluded.filter(
  ({ reason }) => reason === "model_unsupported",
);
const listed = [...byServer.values()].flat().length;
const lowered = [...snapshot.tools.values()].filter(({ input }) => input.lowered.kind === "core");
console.log(
  `${listed} tools of ${byServer.size} servers: ${lowered.length} lower, ${snapshot.tools.size - lowered.length} are relaxed for the portable profile, ${unsupported.length} unsupported, ${lost.length} lost`,
);
for (const line of lost) console.log(line);
