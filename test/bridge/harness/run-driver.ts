// Bundles a driver with the cases beside its peer, and runs it in a process of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { root } from "../../../scripts/setup.mjs";
import { NODE_BUNDLE } from "../../node-bundle.ts";
import type { Peer } from "./peers.ts";
import type { CaseOutcome } from "./play-cases.ts";

export interface DriverRun {
  readonly outcomes: readonly CaseOutcome[];
  /** Why it is not all there: the process failed, or was killed. */
  readonly problem?: string;
}

/** A driver that takes longer hangs. */
const LONGEST_MS = 300_000;

/** `cases`: ids; empty for all. */
export async function runDriver(
  peer: Peer,
  { node = process.execPath, cases = [] }: { node?: string; cases?: readonly string[] } = {},
): Promise<DriverRun> {
  const program = await bundleDriver(peer);
  const { code, said, complaint } = await runProgram(node, [program, ...cases], peer.folder);
  const outcomes = said.split("\n").flatMap((line): CaseOutcome[] => {
    return line.startsWith('{"peer":') ? [JSON.parse(line) as CaseOutcome] : [];
  });
  if (code === 0) return { outcomes };
  const last = complaint.trim().split("\n").slice(-8).join("\n");
  return { outcomes, problem: `it ended with ${code ?? "a signal"}: ${last}` };
}

/** From our sources; what the driver and the bridge import of the peer is resolved beside it when it runs. */
async function bundleDriver({ name, folder }: Peer): Promise<string> {
  const outfile = join(root, folder, ".built", `${name}.mjs`);
  const contents = [
    `import { driver } from "./drivers/${name}.ts";`,
    'import { playCases } from "./harness/play-cases.ts";',
    "await playCases(driver, process.argv.slice(2));",
  ].join("\n");
  await build({
    ...NODE_BUNDLE,
    stdin: { contents, resolveDir: join(root, "test", "bridge"), loader: "ts" },
    outfile,
    sourcemap: "inline",
    plugins: [peerPackages()],
  });
  return outfile;
}

/** Packages that the drivers, the samples and the bridges import are the peer's; all others are ours, and are in the bundle. */
export function peerPackages(): Plugin {
  const importers = /\/(test\/bridge\/(drivers|samples)|packages\/bridge\/src)\//;
  return {
    name: "peer-packages",
    setup(bundle) {
      bundle.onResolve({ filter: /^[@a-z]/i }, ({ path, importer }) => {
        const isOurs = path.startsWith("@soong/") || path.startsWith("node:");
        return importers.test(importer) && !isOurs ? { path, external: true } : undefined;
      });
    },
  };
}

export interface EndedProgram {
  readonly code: number | null;
  readonly said: string;
  readonly complaint: string;
}

/** With nothing of the environment but what a program needs, and no way out of this machine. */
export async function runProgram(
  node: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<EndedProgram> {
  const child = spawn(node, ["--enable-source-maps", ...args], {
    cwd: join(root, cwd),
    env: { ...quietEnvironment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LONGEST_MS,
    killSignal: "SIGKILL",
  });
  let said = "";
  let complaint = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint += text;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, said, complaint };
}

function quietEnvironment(): Record<string, string> {
  const nowhere = "http://127.0.0.1:9";
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: process.env["HOME"] ?? "",
    TMPDIR: process.env["TMPDIR"] ?? "/tmp",
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: "127.0.0.1,localhost",
    NO_COLOR: "1",
  };
}
