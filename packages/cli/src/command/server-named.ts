// A server of mcp.json by the id that was typed.

import { nearestName } from "@soong/core/internal";
import type { McpServerEntry } from "@soong/mcp";
import type { LoadedConfig } from "../config/index.ts";
import { UsageError, visibleLine } from "../output/index.ts";
import { serversFile } from "../runtime/index.ts";

/** A name nobody has is a slip of the person's. */
export function serverNamed(
  entries: readonly McpServerEntry[],
  server: string,
  { home }: Pick<LoadedConfig, "home">,
): McpServerEntry {
  const entry = entries.find(({ server_id }) => server_id === server);
  if (entry !== undefined) return entry;
  const nearest = nearestName(
    server,
    entries.map(({ server_id }) => server_id),
  );
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  throw new UsageError(
    `${serversFile(home)} names no server ${visibleLine(server)}.${hint} \`soong mcp list\` lists those it names.`,
  );
}
