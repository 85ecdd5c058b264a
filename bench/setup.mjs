// Makes what a run needs and nothing twice: the workspace installed, our packages built, each peer in
// its own folder. A peer that cannot be installed is an answer, not an error.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @typedef {(line: string) => void} Say */

/** Builds our packages whose output is missing or older than their source. @param {Say} say */
export async function buildPackages(say) {
  if (!existsSync(join(root, "node_modules/typescript"))) {
    say("installing the workspace");
    await run("npm", ["install", "--no-save"], root);
  }
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  for (const name of ["core", "tools", "store", "mcp", "agent", "inspector"]) {
    const folder = join(root, "packages", name);
    if (newest(join(folder, "src")) <= modified(join(folder, "dist/index.js"))) continue;
    say(`building packages/${name}`);
    const failure = await run(process.execPath, [tsc, "-p", folder], root);
    if (failure) say(`tsc: ${failure}`);
  }
  say("bundling the command and the page");
  for (const script of ["bundle-page.mjs", "bundle-cli.mjs"]) {
    const failure = await run(process.execPath, [join(root, "scripts", script)], root);
    if (failure) say(`${script}: ${failure}`);
  }
}

/**
 * Installs one peer from its lock file, without running its scripts.
 * @param {string} peer @param {Say} say
 * @returns {Promise<string | undefined>} why not
 */
export async function installPeer(peer, say) {
  const folder = join(root, "bench/peers", peer);
  const marker = join(folder, "node_modules/.installed");
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  if (existsSync(marker) && readFileSync(marker, "utf8") === lock) return undefined;
  say(`installing peer ${peer}`);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"];
  const failure = await run("npm", ["ci", ...flags, "--prefix", folder], folder);
  if (!failure) writeFileSync(marker, lock);
  return failure;
}

/**
 * @param {string} command @param {string[]} args @param {string} cwd
 * @returns {Promise<string | undefined>} the first lines of its complaint
 */
function run(command, args, cwd) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const pipe of [child.stdout, child.stderr])
      pipe.setEncoding("utf8").on("data", (text) => (output += text));
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => {
      const lines = output.split("\n").filter((line) => line.trim() && !/^npm warn/i.test(line));
      resolve(
        code === 0 ? undefined : lines.slice(0, 2).join("; ") || `${command} exited with ${code}`,
      );
    });
  });
}

/** @param {string} folder */
function newest(folder) {
  if (!existsSync(folder)) return 0;
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return Math.max(0, ...names.map((name) => modified(join(folder, name))));
}

/** @param {string} path */
const modified = (path) => (existsSync(path) ? statSync(path).mtimeMs : -1);
