// The set-up step in front of every command: a new enough Node, and node_modules as the lock file says.
// Plain JavaScript on nothing but Node, because it runs before anything is installed. Called by the
// runner of scripts, or on its own: `node scripts/setup.mjs`.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Installs what is missing. Ends the process with one clear sentence when that cannot be done. */
export function setUp() {
  refuseOldNode();
  if (isInstalled(root)) return;
  console.log("Installing the packages of package-lock.json …");
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts"], {
    cwd: root,
    stdio: "inherit",
    // npm is a batch file there.
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  console.error("Set-up failed: npm could not install. It needs the npm registry; see above.");
  process.exit(status ?? 1);
}

/**
 * Whether node_modules holds every package of the lock file in its version, with its commands. npm leaves a lock file of
 * what it really installed; optional packages are omitted there when they are for another platform.
 *
 * @param {string} folder
 */
export function isInstalled(folder) {
  const installedLock = join(folder, "node_modules", ".package-lock.json");
  if (!existsSync(installedLock)) return false;
  const installed = readPackages(installedLock);
  const locked = Object.entries(readPackages(join(folder, "package-lock.json")));
  return locked.every(([path, entry]) => {
    if (path === "") return true;
    const isOptional = entry.optional === true || entry.devOptional === true;
    if (isOptional && !isForThisPlatform(entry)) return true;
    if (entry.link === true) return existsSync(join(folder, path));
    const found = installed[path];
    // The commands of our own packages may change with their version staying the same.
    const hasCommands = JSON.stringify(found?.bin) === JSON.stringify(entry.bin);
    return found?.version === entry.version && hasCommands;
  });
}

/**
 * Which C library there is, npm finds out on its own.
 *
 * @param {Entry} entry
 */
function isForThisPlatform({ os, cpu, libc }) {
  return (
    libc === undefined &&
    os?.includes(process.platform) === true &&
    cpu?.includes(process.arch) === true
  );
}

/**
 * @typedef {{ version?: string, bin?: Record<string, string>, link?: boolean, optional?: boolean, devOptional?: boolean,
 *   os?: string[], cpu?: string[], libc?: string[] }} Entry
 * @param {string} lockFile
 * @returns {Record<string, Entry>}
 */
function readPackages(lockFile) {
  const lock = /** @type {{ packages: Record<string, Entry> }} */ (
    JSON.parse(readFileSync(lockFile, "utf8"))
  );
  return lock.packages;
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Soong needs Node 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) setUp();
