// The test command: every check of the repository, in order, stopping at the first that fails.
// `npm test -- lint types` runs only the steps named; `--full` runs the long property tests.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { CommandFailed, run } from "./command.ts";
import { packageFolders } from "./house.ts";

const steps: Readonly<Record<string, () => void>> = {
  format: () => run("oxfmt", ["--check"]),
  types: () => {
    for (const folder of packageFolders()) build(join("packages", folder));
    run(process.execPath, ["scripts/bundle-page.mjs"]);
    run(process.execPath, ["scripts/bundle-cli.mjs"]);
    for (const project of [".", "bench", "packages/inspector/src/page"])
      run("tsc", ["--project", project]);
  },
  // After the build: typed rules see our packages through what they publish.
  lint: () => run("oxlint", []),
  imports: () => runScript("check-imports.ts"),
  tests: () => run("vitest", ["run"]),
  unused: () => run("knip", []),
  packaging: () => runScript("check-packaging.ts"),
};

const args = process.argv.slice(2);
if (args.includes("--full")) process.env.SOONG_TEST_FULL = "1";
process.exitCode = runSteps(args.filter((arg) => arg !== "--full"));

function runSteps(asked: readonly string[]): number {
  const unknown = asked.filter((name) => !(name in steps));
  if (unknown.length > 0) {
    console.error(`No such step: ${unknown.join(", ")}. Steps: ${Object.keys(steps).join(", ")}`);
    return 2;
  }
  const chosen = Object.entries(steps).filter(
    ([name]) => asked.length === 0 || asked.includes(name),
  );
  const seconds: string[] = [];
  for (const [name, step] of chosen) {
    console.log(`\n── ${name} ${"─".repeat(80 - name.length)}`);
    const begun = Date.now();
    try {
      step();
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      console.error(`\n${error.message.trim()}\nStopped at "${name}".`);
      return 1;
    }
    seconds.push(`${name} ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  }
  console.log(`\nAll well: ${seconds.join(", ")}`);
  return 0;
}

/** From nothing, so that a file that is gone from the source is gone from the package. */
function build(folder: string): void {
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  run("tsc", ["--project", folder]);
}

function runScript(name: string): void {
  run(process.execPath, ["scripts/run.mjs", `scripts/${name}`]);
}
