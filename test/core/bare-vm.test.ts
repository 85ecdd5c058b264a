// The kernel in a context that has the language and the Web-standard globals it names: no Node, no DOM.

import { webcrypto } from "node:crypto";
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

  test("carries calls from a definition to their results, with what needs time on a held clock", async () => {
    const outcome = (await inBareContext(bundle, TURN)) as Outcome;
    expect(outcome.globals).toEqual([]);
    expect(outcome.statuses).toEqual([
      ["read", "succeeded"],
      ["asked", "succeeded"],
      ["slow", "timed_out"],
      ["wrong", "failed"],
      ["after", "skipped"],
      ["huge", "skipped"],
    ]);
    expect(outcome.signal).toEqual([true, true]);
    expect(outcome.huge).toEqual(["succeeded", 200_000]);
    expect(outcome.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(outcome.found).toContain("more.weather");
    expect(outcome.terminal).toBe(8);
    expect(outcome.leak).toBe(false);
  });
});

interface Outcome {
  globals: string[];
  statuses: [string, string][];
  signal: boolean[];
  huge: [string, number];
  digest: string;
  found: string;
  terminal: number;
  leak: boolean;
}

/** Runs inside: everything it uses is the language, and the kernel's exports in `soong`. */
const TURN = `(async () => {
  const { createKernel, createHeldClock, createMemoryJournal } = soong;
  const clock = createHeldClock(0);
  const journal = createMemoryJournal();
  const seen = [];
  const base = { description: "for the bare context", input_schema: { type: "object", properties: { text: { type: "string", pattern: "^[a-zé]*$" } }, additionalProperties: false } };
  const tools = [
    { ...base, name: "a.read", permission: "readonly", concurrency_safe: true, handler: (input, context) => ({ echo: input.text, key: context.idempotencyKey, token: "supersecretvalue" }) },
    { ...base, name: "a.write", prepare: () => ({ resources: [{ kind: "path", access: "write", path: "/p/ä.txt" }] }), handler: (_input, { plan }) => plan.digest },
    { ...base, name: "a.slow", permission: "readonly", timeout_ms: 50, handler: (_input, { signal }) => { signal.addEventListener("abort", () => seen.push(signal.aborted)); return new Promise(() => {}); } },
    { ...base, name: "a.huge", permission: "readonly", handler: () => "é".repeat(100000) },
    { ...base, name: "more.weather", description: "the weather forecast of a city", defer: true, permission: "readonly", handler: () => "sunny" },
  ];
  const kernel = createKernel({ tools, clock });
  const run = await kernel.startRun({
    journal,
    roots: { project: "/p", write: [] },
    secrets: [{ name: "TOKEN", value: "supersecretvalue" }],
    ask: async () => ({ decision: "allow_once" }),
  });
  const executing = run.execute([
    { id: "read", name: "a__read", arguments: '{"text":"é"}' },
    { id: "asked", name: "a__write", arguments: "{}" },
    { id: "slow", name: "a__slow", arguments: "{}" },
    { id: "wrong", name: "a__write", arguments: '{"text":"NO"}' },
    { id: "after", name: "a__read", arguments: "{}" },
    { id: "huge", name: "a__huge", arguments: "{}" },
  ]);
  await clock.advance(1000);
  const results = await executing;
  const huge = await run.call("a.huge", {});
  const found = await run.call("internal.search_tools", { query: "weather city" });
  seen.push(results.length === 6);
  return JSON.parse(JSON.stringify({
    globals: Object.getOwnPropertyNames(globalThis).filter((name) => ["console", "URL", "process", "Buffer", "fetch", "structuredClone", "queueMicrotask"].includes(name)),
    statuses: results.map(({ tool_call_id, status }) => [tool_call_id, status]),
    signal: seen,
    huge: [huge.status, huge.artifacts[0].size],
    digest: results[1].content[0].text,
    found: JSON.stringify(found.data),
    terminal: journal.facts.filter(({ type }) => ["tool.completed", "tool.failed", "tool.skipped"].includes(type)).length,
    leak: JSON.stringify([journal.facts, journal.nodes]).includes("supersecretvalue"),
  }));
})()`;

/** Those of packages/core/src/web.d.ts. */
const WEB_GLOBALS = {
  AbortController,
  TextEncoder,
  clearTimeout,
  crypto: webcrypto,
  performance,
  setTimeout,
};

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

function inBareContext({ code }: Bundle, script: string): unknown {
  const context = createContext({ ...WEB_GLOBALS });
  // V8 itself puts a console into every context; the kernel may not count on one.
  runInContext("delete globalThis.console", context);
  runInContext(code, context);
  return runInContext(script, context);
}
