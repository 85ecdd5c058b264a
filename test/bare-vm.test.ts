// The kernel in a context that has the language and nothing else: no Node, no DOM, no timers.

import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";

describe("the kernel in a bare context", () => {
  let bundle: Bundle;

  beforeAll(async () => {
    bundle = await bundleKernel();
  });

  test("is bundled with nothing left to import", () => {
    expect(bundle.imports).toEqual([]);
    // `var __require` is the shim esbuild leaves where a module is still asked for at run time.
    expect(bundle.code.match(/\bvar __require\b|["']node:\w*/g)).toBeNull();
  });

  test("loads, and its exports are there", () => {
    const context = bareContext();
    runInContext(bundle.code, context);
    const names = runInContext(`Object.keys(${GLOBAL_NAME})`, context) as string[];
    expect(names.length).toBeGreaterThan(0);
  });
});

const GLOBAL_NAME = "soong";

interface Bundle {
  readonly code: string;
  readonly imports: readonly string[];
}

/** One script that leaves the kernel's exports in a global. */
async function bundleKernel(): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: ["packages/core/src/index.ts"],
    bundle: true,
    write: false,
    metafile: true,
    format: "iife",
    globalName: GLOBAL_NAME,
    platform: "neutral",
    // `neutral` looks at no main field of its own accord; the validator is published as CommonJS.
    mainFields: ["module", "main"],
    target: "es2023",
    logLevel: "error",
  });
  const outputs = Object.values(metafile.outputs);
  return {
    code: outputFiles.map((file) => file.text).join("\n"),
    imports: outputs.flatMap((output) => output.imports.map((imported) => imported.path)),
  };
}

function bareContext(): object {
  const context = createContext({});
  // V8 itself puts a console into every context; the kernel may not count on one.
  runInContext("delete globalThis.console", context);
  return context;
}
