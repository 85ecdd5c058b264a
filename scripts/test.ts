// The test command: every check of the repository, in order, stopping where one fails.
// `npm test -- lint types` runs only the steps named; `--full` runs the long property tests.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { CommandFailed, run } from "./command.ts";
import { packageFolders } from "./house.ts";

const steps: Readonly<Record<string, () => void>> = {
  format: () => run("oxfmt", ["--check"]),
  types: () => {
    for (const folder of packageFolders()) build(join("packages", folder));
    run(process.execPath, ["scripts/bundle-page.mjs"]);
    run(process.execPath, ["scripts/bundle-cli.mjs"]);
    for (const project of [".", "bench", "packages/inspector/src/page", "test/inspector"])
      run("tsc", ["--project", project]);
  },
  // After the build: typed rules see our packages through what they publish.
  lint: () => run("oxlint", []),
  imports: () => runScript("check-imports.ts"),
  unused: () => run("knip", []),
  packaging: () => runScript("check-packaging.ts"),
  tests: () => run("vitest", ["run"]),
};

/** Those of one line go on beside each other: they only read what was built, and most of them fill one core. */
const ORDER = [["format"], ["types"], ["lint", "imports", "unused", "packaging"], ["tests"]];

const args = process.argv.slice(2);
if (args.includes("--full")) process.env.SOONG_TEST_FULL = "1";
process.exitCode = await runSteps(args.filter((arg) => arg !== "--full"));

async function runSteps(asked: readonly string[]): Promise<number> {
  const unknown = asked.filter((name) => !(name in steps));
  if (unknown.length > 0) {
    console.error(`No such step: ${unknown.join(", ")}. Steps: ${Object.keys(steps).join(", ")}`);
    return 2;
  }
  const seconds: string[] = [];
  for (const line of ORDER) {
    const names = line.filter((name) => asked.length === 0 || asked.includes(name));
    const ended = names.length > 1 ? await Promise.all(names.map(runBeside)) : names.map(runHere);
    const failed = ended.filter(({ isWell }) => !isWell);
    if (failed.length > 0) {
      console.error(`Stopped at ${failed.map(({ name }) => `"${name}"`).join(", ")}.`);
      return 1;
    }
    seconds.push(...ended.map(({ name, took }) => `${name} ${(took / 1000).toFixed(1)} s`));
  }
  console.log(`\nAll well: ${seconds.join(", ")}`);
  return 0;
}

interface EndedStep {
  readonly name: string;
  readonly isWell: boolean;
  readonly took: number;
}

function runHere(name: string): EndedStep {
  console.log(`\n── ${name} ${"─".repeat(80 - name.length)}`);
  const begun = Date.now();
  try {
    steps[name]?.();
    return { name, isWell: true, took: Date.now() - begun };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    console.error(`\n${error.message.trim()}`);
    return { name, isWell: false, took: Date.now() - begun };
  }
}

/** This command for that step alone; what it says is told in one piece when it has ended. */
async function runBeside(name: string): Promise<EndedStep> {
  const begun = Date.now();
  const child = spawn(process.execPath, [...process.argv.slice(1, 2), name], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  const said = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await closed) as [number | null];
  process.stdout.write(said.join(""));
  return { name, isWell: code === 0, took: Date.now() - begun };
}

/** From nothing, so that a file that is gone from the source is gone from the package. */
function build(folder: string): void {
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  run("tsc", ["--project", folder]);
}

function runScript(name: string): void {
  run(process.execPath, ["scripts/run.mjs", `scripts/${name}`]);
}
