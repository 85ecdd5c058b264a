// Makes what a run needs and nothing twice: our packages built, each peer in its own folder. A peer that cannot be
// installed is an answer, not an error.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { isInstalled, root } from "../scripts/setup.mjs";

/** @typedef {(line: string) => void} Say */

/** Builds what has changed of our packages, and the bundles of the command and the page. @param {Say} say */
export async function buildPackages(say) {
  say("building the packages");
  const failure = await run(process.execPath, ["scripts/run.mjs", "scripts/build.ts"], root);
  if (failure) say(failure);
}

/**
 * Installs one peer from its lock file, without running its scripts.
 * @param {string} path of its folder in the repository @param {Say} say
 * @returns {Promise<string | undefined>} why not
 */
export async function installPeer(path, say) {
  const folder = join(root, path);
  if (isInstalled(folder)) return undefined;
  say(`installing ${path}`);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"];
  // Some ask for a newer Node than they need.
  return run("npm", ["ci", ...flags, "--engine-strict=false", "--prefix", folder], folder);
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
