// Every TypeScript sample of the documentation is type-checked, run, and held to the output beside it.

import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { verifies } from "#laws";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { NODE_BUNDLE } from "./node-bundle.ts";
import { allSamples, documentedSamples } from "./samples/documented-samples.ts";
import type { Sample } from "./samples/extract-samples.ts";

const execute = promisify(execFile);

/** Inside the repository, so that samples find the packages the workspace has installed. */
const folder = resolve(".cache", "samples");
const samples = documentedSamples("ts", "js");

test("what is omitted from the samples is omitted on purpose", () => {
  verifies("DOC-2");
  const leftOut = allSamples().filter(({ notRun }) => notRun !== undefined);
  const inTurn = leftOut.map(({ page, notRun }) => `${page}: ${notRun}`).toSorted();
  // They are run with their peers, by test/bridge.
  const isOfBridge = (line: string): boolean => /^docs\/bridges\/.*: needs the peer/.test(line);
  expect(inTurn.filter((line) => !isOfBridge(line))).toEqual([
    "CONTRIBUTING.md: a fragment of a test",
    "CONTRIBUTING.md: takes minutes",
    "README.md: installs",
    "README.md: installs",
    "README.md: needs a key",
    "README.md: takes minutes",
    "docs/cli.md: changes the shell that it is typed in",
    "docs/cli.md: needs a key",
    "docs/deployment.md: changes the machine",
    "docs/deployment.md: needs a server",
    "docs/deployment.md: needs a server",
    "docs/deployment.md: needs a server",
    "docs/deployment.md: needs a server",
    "docs/deployment.md: needs a server",
    "docs/deployment.md: needs a server",
    "docs/deployment.md: needs a server",
    "docs/embed.md: installs",
    "docs/install.md: installs",
    "docs/install.md: is about the clone",
    "docs/install.md: is about the clone",
    "docs/install.md: needs a key",
    "docs/install.md: not published yet",
    "docs/install.md: removes what was installed",
    "docs/sandbox.md: changes the system",
    "docs/sessions.md: needs a database",
    "packages/agent/README.md: installs",
    "packages/bridge/README.md: installs",
    "packages/cli/README.md: installs",
    "packages/control/README.md: installs",
    "packages/core/README.md: installs",
    "packages/export/README.md: installs",
    "packages/platform/README.md: installs",
    "packages/replay/README.md: installs",
    "packages/schema/README.md: installs",
    "packages/search/README.md: installs",
    "packages/store/README.md: installs",
    "packages/tasks/README.md: installs",
    "packages/tools/README.md: installs",
    "packages/worker/README.md: installs",
    "packages/worker/README.md: needs a server",
  ]);
});

describe("the code samples of the documentation", () => {
  beforeAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const sample of samples) writeFileSync(join(folder, fileName(sample)), sample.code);
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(compilerConfig));
    await bundleSamples();
  });

  test("type-check", async () => {
    verifies("DOC-2");
    const checked = samples.length === 0 ? "" : await typeCheck();
    expect(checked).toBe("");
  });

  test.each(samples.map((sample) => [`${sample.page}:${sample.line}`, sample] as const))(
    "%s runs",
    async (_, sample) => {
      verifies("DOC-2");
      const printed = await runSample(sample);
      expect(printed).toBe(sample.prints ?? printed);
    },
  );
});

function fileName({ page, line, language }: Sample): string {
  return `${page.replaceAll(/\W+/g, "-")}-${line}.${language}`;
}

const compilerConfig = {
  extends: "../../tsconfig.json",
  // A sample may show a value without using it, and JavaScript owes no types.
  compilerOptions: { moduleDetection: "force", noUnusedLocals: false, checkJs: false },
  include: ["*.ts", "*.js"],
  // Built first, if they have changed.
  references: readdirSync("packages").map((name) => ({ path: `../../packages/${name}` })),
};

/** What the compiler complains about; empty when all is well. */
async function typeCheck(): Promise<string> {
  const compiler = resolve("node_modules", "typescript", "bin", "tsc");
  try {
    const { stdout } = await execute(process.execPath, [compiler, "--build", folder]);
    return stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

/** All at once: most of what they need is the same. */
async function bundleSamples(): Promise<void> {
  await build({
    ...NODE_BUNDLE,
    entryPoints: samples.map((sample) => join(folder, fileName(sample))),
    outdir: join(folder, "run"),
    outExtension: { ".js": ".mjs" },
    splitting: true,
    packages: "external",
  });
}

async function runSample(sample: Sample): Promise<string> {
  const file = join(folder, "run", fileName(sample).replace(/\.\w+$/, ".mjs"));
  const { stdout } = await execute(process.execPath, [file], { cwd: folder, timeout: 30_000 });
  return stdout;
}
