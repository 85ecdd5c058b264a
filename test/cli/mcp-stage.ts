// A home with MCP servers, for tests of the real program: entries that start a script with Node, and whether what they
// started is still there.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CliBundle, Place } from "./cli-bundle.ts";

export const PLAIN = here("../mcp/servers/plain-server.mjs");
export const SHIFTING = here("../mcp/servers/shifting-server.mjs");
export const FILESYSTEM = here(
  "../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
);

export function node(args: readonly string[], more: object = {}): object {
  return { command: process.execPath, args, ...more };
}

export async function placeWithServers(
  bundle: CliBundle,
  serversOf: (project: string) => object,
): Promise<Place> {
  const place = await bundle.place();
  const mcpServers = serversOf(place.project);
  await place.write(join(place.home, "mcp.json"), JSON.stringify({ mcpServers }));
  // Longer than any busy machine takes: no one who answers is waited for in vain.
  await place.write(join(place.home, "config.toml"), "[mcp]\nwait_ms = 60_000\n");
  return place;
}

/** Asks again until it is so; the test's own time limit ends it otherwise. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}

/** Whether a process has this text in its environment. */
export async function isRunningWith(text: string): Promise<boolean> {
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const env = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (env.includes(text)) return true;
  }
  return false;
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
