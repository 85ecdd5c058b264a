// The official conformance suite, one scenario at a time (MCP-9, GATE-6): which scenarios a revision requires, and
// what became of one. It runs on the Node the tests run on.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export type Revision = "2025-11-25" | "2026-07-28";

export interface Scenario {
  readonly revision: Revision;
  readonly side: "server" | "client";
  readonly name: string;
}

export interface ScenarioOutcome {
  /** Checks that failed, in the suite's words; empty when it passed. */
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
  readonly checks: number;
}

export const REVISIONS: readonly Revision[] = ["2025-11-25", "2026-07-28"];

const PACKAGE = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/conformance/package.json",
);
const SUITE = join(dirname(PACKAGE), "dist", "index.js");
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const OLDER_NODE = new URL("older-node.mjs", import.meta.url).href;
/** Two busy cores are no reason to fail. */
const SCENARIO_TIMEOUT_MS = 60_000;

/** Every scenario a revision scores, in the suite's order. */
export async function scoredScenarios(revision: Revision): Promise<Scenario[]> {
  const { stdout } = await suite(["list", "--requirements", revision]);
  const scored = stdout.split("Run and reported, but never scored")[0] ?? "";
  const [server = "", client = ""] = scored.split("Client scenarios");
  const named = (side: Scenario["side"], list: string): Scenario[] =>
    [...list.matchAll(/^ {2}- (\S+)$/gmu)].map(([, name = ""]) => ({ revision, side, name }));
  return [...named("server", server), ...named("client", client)];
}

/** `target`: the address of a server, or the command line of a client. */
export async function runScenario(
  { revision, side, name }: Scenario,
  target: string,
): Promise<ScenarioOutcome> {
  const folder = await mkdtemp(join(tmpdir(), "soong-suite-"));
  try {
    const { stdout, stderr, code } = await suite([
      side,
      ...(side === "server" ? ["--url", target] : ["--command", target]),
      "--scenario",
      name,
      "--spec-version",
      revision,
      "--timeout",
      String(SCENARIO_TIMEOUT_MS),
      "--output-dir",
      folder,
    ]);
    const checks = await readChecks(folder);
    const failures = checks.filter(({ status }) => status === "FAILURE").map(describe);
    // It knows best whether that was enough.
    if (code !== 0 && failures.length === 0) {
      failures.push(`the suite ended with ${String(code)}\n${stdout}\n${stderr}`.trim());
    }
    const warnings = checks.filter(({ status }) => status === "WARNING").map(describe);
    return { failures, warnings, checks: checks.length };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly description: string;
  readonly errorMessage?: string;
}

function describe({ id, description, errorMessage }: Check): string {
  return `${id}: ${errorMessage ?? description}`;
}

async function readChecks(folder: string): Promise<Check[]> {
  const files = await readdir(folder, { recursive: true });
  const found = files.filter((file) => file.endsWith("checks.json"));
  const lists = await Promise.all(found.map((file) => readFile(join(folder, file), "utf8")));
  return lists.flatMap((list) => JSON.parse(list) as Check[]);
}

async function suite(
  args: readonly string[],
): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const child = spawn(process.execPath, ["--import", OLDER_NODE, SUITE, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { stdout, stderr, code };
}
