// Every code sample of the documentation is type-checked, run, and held to the output beside it.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { verifies } from "#laws";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { sourceAlias } from "../scripts/source-alias.mjs";
import { extractSamples } from "./samples/extract-samples.ts";
import type { Sample } from "./samples/extract-samples.ts";

const execute = promisify(execFile);

/** Inside the repository, so that samples find the packages the workspace has installed. */
const folder = resolve(".cache", "samples");
const samples = pages().flatMap((page) => extractSamples(page, readFileSync(page, "utf8")));

describe("the code samples of the documentation", () => {
  beforeAll(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const sample of samples) writeFileSync(join(folder, fileName(sample)), sample.code);
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(compilerConfig));
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

function pages(): string[] {
  const docs = readdirSync("docs", { recursive: true, encoding: "utf8" });
  const packages = readdirSync("packages");
  return [
    ...readdirSync("."),
    ...packages.map((name) => join("packages", name, "README.md")),
    ...docs.map((name) => join("docs", name)),
  ].filter((page) => page.endsWith(".md") && existsSync(page));
}

function fileName({ page, line, language }: Sample): string {
  return `${page.replaceAll(/\W+/g, "-")}-${line}.${language}`;
}

const compilerConfig = {
  extends: "../../tsconfig.json",
  // A sample may show a value without using it, and JavaScript owes no types.
  compilerOptions: { moduleDetection: "force", noUnusedLocals: false, checkJs: false },
  include: ["*.ts", "*.js"],
};

/** What the compiler complains about; empty when all is well. */
async function typeCheck(): Promise<string> {
  const compiler = resolve("node_modules", "typescript", "bin", "tsc");
  try {
    const { stdout } = await execute(process.execPath, [compiler, "--project", folder]);
    return stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

async function runSample(sample: Sample): Promise<string> {
  const outfile = join(folder, `${fileName(sample)}.run.mjs`);
  await build({
    entryPoints: [join(folder, fileName(sample))],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    alias: sourceAlias(),
    logLevel: "error",
  });
  const { stdout } = await execute(process.execPath, [outfile], { cwd: folder, timeout: 30_000 });
  return stdout;
}
