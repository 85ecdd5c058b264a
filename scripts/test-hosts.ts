// Unmodified agent hosts from npm, each pointed at a scripted model on this machine, call a tool through `soong mcp serve`
// over stdio and over HTTP (GATE-5). `npm run test:hosts`, or `npm run test:hosts -- codex pi` for some of them.
// Not part of `npm test`: the hosts are large, and are installed into test/mcp/hosts/installed first.

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { HOSTS, type Host } from "../test/mcp/hosts/hosts.ts";
import { tryHost } from "../test/mcp/hosts/try-host.ts";
import { CommandFailed, run } from "./command.ts";

const given = process.argv.slice(2);
const unknown = given.filter((name) => !HOSTS.some((host) => host.name === name));
if (unknown.length > 0) {
  const names = HOSTS.map(({ name }) => name).join(", ");
  console.error(`There is no host ${unknown.join(", ")}. There are ${names}.`);
  process.exitCode = 2;
} else {
  const chosen = HOSTS.filter(({ name }) => given.length === 0 || given.includes(name));
  process.exitCode = (await tryAll(chosen)) ? 0 : 1;
}

async function tryAll(hosts: readonly Host[]): Promise<boolean> {
  run("node", [join("scripts", "bundle-cli.mjs")]);
  const program = resolve("packages", "cli", "bin", "soong.cjs");
  const failed: string[] = [];
  for (const host of hosts) {
    const installed = join("test", "mcp", "hosts", "installed", host.name);
    const problem = install(host, installed);
    if (problem !== undefined) {
      console.log(`${host.name}: not tried, it could not be installed: ${problem}`);
      failed.push(host.name);
      continue;
    }
    for (const transport of ["stdio", "http"] as const) {
      const since = Date.now();
      const outcome = await tryHost(program, {
        host,
        installed: resolve(installed),
        transport,
      });
      const seconds = ((Date.now() - since) / 1000).toFixed(1);
      const what = `${host.name} ${versionOf(host, installed)} over ${transport}`;
      if (outcome.ok) {
        console.log(`${what}: ok (${outcome.saw}), ${seconds} s`);
      } else {
        console.log(`${what}: FAILED: ${outcome.problems.join("; ")}, ${seconds} s`);
        console.log(outcome.said.replaceAll(/^/gm, "    "));
        failed.push(`${host.name} over ${transport}`);
      }
    }
  }
  console.log(failed.length === 0 ? "All hosts can." : `Failed: ${failed.join(", ")}.`);
  return failed.length === 0;
}

/** Without running anything of theirs; what is there in the right versions stays. */
function install(host: Host, folder: string): string | undefined {
  const { dependencies = {} } = manifest(folder);
  const isThere = Object.entries(dependencies).every(([name, version]) => {
    const at = join(folder, "node_modules", name);
    return existsSync(join(at, "package.json")) && manifest(at).version === version;
  });
  if (isThere) return undefined;
  console.log(`${host.name}: installing`);
  try {
    run("npm", [
      "install",
      "--prefix",
      folder,
      "--ignore-scripts",
      // Some ask for Node 22, and bring it: see their package.json. The workspace's own .npmrc would refuse them.
      "--engine-strict=false",
      "--no-package-lock",
      "--no-audit",
      "--no-fund",
      "--loglevel",
      "error",
    ]);
    return undefined;
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return error.message.trim();
  }
}

function versionOf(host: Host, folder: string): string {
  return manifest(join(folder, "node_modules", host.package)).version;
}

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
