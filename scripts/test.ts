// The test command: every check of the repository, in order, stopping where one fails.
// `npm test -- lint types` runs only the steps named; `--full` runs the long property tests.

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { CommandFailed, run } from "./command.ts";

const steps: Readonly<Record<string, () => void>> = {
  format: () => run("oxfmt", ["--check"]),
  types: () => {
    runScript("build.ts");
    run("tsc", ["--build", ".", "bench", "packages/inspector/src/page", "test/inspector"]);
  },
  // After the build: typed rules see our packages through what they publish.
  lint: () => run("oxlint", []),
  imports: () => runScript("check-imports.ts"),
  unused: () => run("knip", []),
  packaging: () => runScript("check-packaging.ts"),
  tests: () => run("vitest", ["run"]),
};

/** Those of one line run in parallel. Packaging waits for the registry, so the tests have the processor meanwhile. */
const ORDER = [["format"], ["types"], ["lint", "imports", "unused"], ["packaging", "tests"]];

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

/** Runs this command for that step alone. Its output is printed in one piece at the end, but the tests', which take minutes. */
async function runBeside(name: string): Promise<EndedStep> {
  const begun = Date.now();
  const output = name === "tests" ? "inherit" : "pipe";
  const child = spawn(process.execPath, [...process.argv.slice(1, 2), name], {
    stdio: ["ignore", output, output],
  });
  const closed = once(child, "close");
  const printed = await Promise.all([child.stdout, child.stderr].map(readAll));
  const [code] = (await closed) as [number | null];
  process.stdout.write(printed.join(""));
  return { name, isWell: code === 0, took: Date.now() - begun };
}

async function readAll(stream: Readable | null): Promise<string> {
  return stream === null ? "" : text(stream);
}

function runScript(name: string): void {
  run(process.execPath, ["scripts/run.mjs", `scripts/${name}`]);
}
