// Every setting of the config does something that a test shows (CONF-3).

import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, defineTool, kernelConfig, type ToolResult } from "@soong/core";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { loopLimits } from "../../packages/agent/src/loop/limits.ts";
import type { AnyNode, AnyTable } from "../../packages/cli/src/config/definition.ts";
import {
  pickKernelConfig,
  loadConfig,
  buildLoopLimits,
  parseConfig,
} from "../../packages/cli/src/config/index.ts";
import { SECTIONS } from "../../packages/cli/src/config/sections.ts";
import { openModels } from "../../packages/cli/src/runtime/models.ts";
import { openRuntime } from "../../packages/cli/src/runtime/open-runtime.ts";
import { compatibleWire } from "../agent/provider/compatible-wire.ts";
import { events, startReplayServer } from "../agent/provider/replay-server.ts";

/** A test by its file and its name. */
type Proof = readonly [file: string, name: string];

const HERE = "test/cli/config-effects.test.ts";
const WIRED: Proof = [
  "packages/cli/src/config/parse-config.test.ts",
  "brings every setting of kernel and loop to where it counts",
];
const ROUTING = "test/agent/loop-routing.test.ts";
const RETRIES = "test/agent/loop-retries.test.ts";
const PRICED: Proof = [
  "test/cli/models.test.ts",
  "is reported at its end, with its session and with",
];
const CHAIN: Proof = [HERE, "the default model answers, and those of the fallback behind it"];
const PROFILE: Proof = [HERE, "a profile is asked where it says, with its key, limits and prices"];
const POLICY: Proof = ["packages/cli/src/config/build-policy.test.ts", "comes from the config:"];
const SANDBOX: Proof = [
  "packages/cli/src/config/build-policy.test.ts",
  "is the mode, and what tools and rules say instead",
];
const SERVERS: Proof = [
  "packages/cli/src/runtime/user-servers.test.ts",
  "has the times of the config where it says none",
];
const TELEMETRY = "test/export/telemetry-command.test.ts";
const POOLS: Proof = ["test/cli/agents.test.ts", "are the workers of pools that name them"];
const START: Proof = ["test/cli/memory.test.ts", "is what a run begins with, within the budget"];
const BEGINNING: Proof = ["test/cli/memory.test.ts", "memory server when a run begins"];
const OUTSIDE: Proof = ["test/cli/memory.test.ts", "recalled by the reference memory server"];
const MEMORY: Proof = ["test/cli/memory.test.ts", "is written and recalled as the config says"];
const DATABASE: Proof = [
  "packages/cli/src/runtime/home.test.ts",
  "the store is in the database of the config",
];
const kernel = (file: string, name: string): readonly Proof[] => [
  WIRED,
  [`test/core/${file}.test.ts`, name],
];

/** What shows the effect. */
const EFFECTS: Readonly<Record<string, readonly Proof[]>> = {
  "model.default": [CHAIN],
  "model.max_output_tokens": [WIRED, ["test/agent/provider/requests.test.ts", "max_output_tokens"]],
  "model.retries": [WIRED, [RETRIES, "waits double, vary by run and not by time"]],
  "model.idle_timeout_ms": [WIRED, [RETRIES, "idle_timeout_ms"]],
  "model.max_answer_ms": [WIRED, [RETRIES, "max_answer_ms"]],
  "model.max_answer_bytes": [WIRED, [RETRIES, "max_answer_bytes"]],
  "model.max_retry_after_ms": [WIRED, [ROUTING, "a model that is limited for long is passed"]],
  "model.budget.max_tokens": [WIRED, [ROUTING, "a run ends before the request that its budget"]],
  "model.budget.max_cost": [["test/cli/models.test.ts", "ends the run where the budget"]],
  "model.budget.currency": [["test/cli/models.test.ts", "ends the run where the budget"]],
  "models.fallback": [CHAIN],
  "models.profiles.*.provider": [PROFILE],
  "models.profiles.*.model": [PROFILE],
  "models.profiles.*.base_url": [PROFILE],
  "models.profiles.*.api_key_env": [PROFILE],
  "models.profiles.*.context_window": [PROFILE, [ROUTING, "a request may hold what the smallest"]],
  "models.profiles.*.max_output_tokens": [PROFILE],
  "models.profiles.*.prices.currency": [PRICED],
  "models.profiles.*.prices.input": [PRICED],
  "models.profiles.*.prices.output": [PRICED],
  "models.profiles.*.prices.cache_read": [PROFILE],
  "models.profiles.*.prices.cache_write": [PROFILE],
  "tools.disabled": [[HERE, "a disabled tool is not there"]],
  "tools.default_timeout_ms": kernel("pipeline-time", "default_timeout_ms"),
  "tools.max_timeout_ms": kernel("pipeline-time", "max_timeout_ms"),
  "tools.inline_limit_bytes": kernel("results-bounds", "inline_limit_bytes"),
  "tools.max_arguments_bytes": kernel("schema-laws-input", "max_arguments_bytes"),
  "tools.max_arguments_depth": kernel("schema-laws-input", "max_arguments_depth"),
  "tools.max_concurrency": kernel("turns", "max_concurrency"),
  "tools.early_start": kernel("turns-stream", "early_start"),
  "tools.defer_budget_tokens": kernel("search-tools", "defer_budget_tokens"),
  "tools.cancel_grace_ms": kernel("pipeline-time", "cancel_grace_ms"),
  "tools.resolve_timeout_ms": [WIRED, [HERE, "a tool that does not decide in time"]],
  "tools.env_allowlist": [[HERE, "a command sees the variables that are allowed, and no others"]],
  "tools.write_roots": [[HERE, "a further root may be written to"]],
  "tools.tmp_dir": [[HERE, "under TMPDIR writing is ordinary where its switch says so"]],
  "tools.sensitive_paths": [POLICY],
  "tools.overrides.*.timeout_ms": [
    ["packages/cli/src/config/override-tool.test.ts", "bounds its calls in a run"],
  ],
  "tools.overrides.*.readonly": [POLICY],
  "tools.overrides.*.sandbox": [
    SANDBOX,
    ["test/cli/sandbox.test.ts", "leaves no way out to a rule or a tool"],
  ],
  "sandbox.mode": [SANDBOX, ["test/cli/sandbox.test.ts", "runs nothing where one is required"]],
  "sandbox.auto_allow": [
    SANDBOX,
    ["test/cli/sandbox.test.ts", "lets commands run without approval inside"],
  ],
  "permissions.rules": [
    ["packages/cli/src/config/build-policy.test.ts", "is found again by explain, with its file"],
  ],
  "permissions.destructive": [POLICY],
  "permissions.read_only_commands": [POLICY],
  "permissions.ask_timeout_ms": kernel("permission-answers", "ask_timeout_ms"),
  "permissions.network.mode": [POLICY],
  "permissions.network.hosts": [POLICY],
  "hooks.timeout_ms": [WIRED, [HERE, "a hook that takes too long is not waited for"]],
  "mcp.wait_ms": [["test/cli/mcp-broken.test.ts", "is not waited for longer than the config"]],
  "mcp.call_timeout_ms": [SERVERS],
  "mcp.connect_timeout_ms": [SERVERS],
  "mcp.instructions": [
    ["packages/cli/src/runtime/tool-provider.test.ts", "are omitted where the config wants none"],
  ],
  "agents.max_turns": [WIRED, ["test/agent/loop.test.ts", "max_turns"]],
  "agents.child_timeout_ms": kernel("pipeline-time", "child_timeout_ms"),
  "agents.max_children_per_run": kernel("turns-starters", "max_children_per_run"),
  "agents.max_concurrent_children_per_session": kernel(
    "turns-starters",
    "max_concurrent_children_per_session",
  ),
  "agents.worker_pools.*.agent": [POOLS],
  "agents.worker_pools.*.size": [POOLS],
  "agents.worker_pools.*.model": [POOLS],
  "agents.worker_pools.*.allowed_tools": [POOLS],
  "agents.worker_pools.*.remote": [["test/worker/cluster.test.ts", "do the diamond"]],
  "task.lease_ms": [["test/cli/tasks.test.ts", "stops cleanly at Ctrl-C"]],
  "task.max_attempts": [["test/cli/tasks.test.ts", "drives a task to its end with the workers"]],
  "memory.enabled": [START],
  "memory.provider": [OUTSIDE],
  "memory.write_arguments": [OUTSIDE],
  "memory.recall_tool": [OUTSIDE],
  "memory.recall_arguments": [OUTSIDE],
  "memory.start_tokens": [START],
  "memory.start_arguments": [BEGINNING],
  "memory.write_mode": [MEMORY],
  "memory.external_tool": [MEMORY],
  "memory.recall_tokens": [MEMORY],
  "context.max_tokens": [WIRED, ["test/agent/loop-context.test.ts", "over its budget the"]],
  "context.instructions": [["test/cli/instructions.test.ts", "instructions = false"]],
  "context.instruction_limit_bytes": [
    ["test/cli/instructions.test.ts", "instruction_limit_bytes = 1000"],
  ],
  "store.url": [DATABASE, ["test/cli/store-postgres.test.ts", "keeps a run there"]],
  "store.password_env": [
    ["packages/cli/src/runtime/store-url.test.ts", "with the password of the variable it names"],
  ],
  "store.lease_ms": [DATABASE],
  "store.busy_timeout_ms": [["test/cli/kept.test.ts", "are waited for as long as the config says"]],
  "store.durability": [
    ["packages/store/src/store/durability.test.ts", "with full durability everything does"],
    [
      "packages/cli/src/runtime/home.test.ts",
      "the store waits for the disk as store.durability of the config says",
    ],
  ],
  "store.retention.max_age_days": [
    ["packages/cli/src/runtime/keep-retention.test.ts", "removes what is too old, once a day"],
  ],
  "store.retention.max_bytes": [
    ["test/cli/kept.test.ts", "are removed automatically as the config says"],
  ],
  "telemetry.otlp_endpoint": [[TELEMETRY, "to the collector of the config"]],
  "telemetry.headers_env": [
    [TELEMETRY, "sends content where the config wants it, without the key"],
  ],
  "telemetry.content": [[TELEMETRY, "sends content where the config wants it, without the key"]],
};

describe("the settings", () => {
  it("each have an effect that a test shows", () => {
    verifies("CONF-3");
    const settings = settingsOf(SECTIONS, "");
    expect(settings.filter((path) => EFFECTS[path] === undefined)).toEqual([]);
    const known = new Set(settings);
    expect(Object.keys(EFFECTS).filter((path) => !known.has(path))).toEqual([]);
    for (const path of settings) {
      for (const [file, name] of EFFECTS[path] ?? []) {
        // Here it is in the table, too.
        const found = readFileSync(file, "utf8").split(name).length - (file === HERE ? 2 : 1);
        expect([path, file, found > 0]).toEqual([path, file, true]);
      }
    }
  });

  it("have the defaults of those who read them", () => {
    verifies("CONF-3");
    const values = parseConfig("", "config.toml");
    const { budget, ...limits } = buildLoopLimits(values);
    expect(budget).toBeUndefined();
    expect(loopLimits(limits)).toEqual(loopLimits());
    expect(kernelConfig(pickKernelConfig(values))).toEqual(kernelConfig());
  });
});

/** By their paths. */
function settingsOf(table: AnyTable, prefix: string): string[] {
  return Object.entries(table.keys).flatMap(([key, node]) => settingsAt(node, `${prefix}${key}`));
}

function settingsAt(node: AnyNode, path: string): string[] {
  if ("kind" in node) return [path];
  if ("each" in node) return settingsOf(node.each, `${path}.*.`);
  return settingsOf(node, `${path}.`);
}

describe("a setting of a runtime", () => {
  let around: string;
  let home: string;
  let project: string;

  beforeEach(async () => {
    around = await realpath(await mkdtemp(join(tmpdir(), "soong-effects-")));
    home = join(around, "home");
    project = join(around, "project");
    for (const folder of [home, project, join(around, "other")]) {
      await mkdir(folder, { mode: 0o700 });
    }
  });

  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(around, { recursive: true, force: true });
  });

  async function call(config: string, tool: string, input: object): Promise<ToolResult> {
    await writeFile(join(home, "config.toml"), config);
    const runtime = await openRuntime({
      env: {},
      cwd: project,
      config: await loadConfig({ home }),
      flags: { allow: ["code.run_command", "code.*"] },
    });
    try {
      const { session } = await runtime.openSession();
      const run = await session.startRun();
      const result = await run.call(tool, { ...input });
      run.end("completed");
      return result;
    } finally {
      await runtime.close();
    }
  }

  it("a disabled tool is not there", async () => {
    verifies("CONF-3");
    const input = { path: "." };
    expect(await call("", "code.list_dir", input)).toMatchObject({ is_error: false });
    const off = await call('[tools]\ndisabled = ["code.list_*"]', "code.list_dir", input);
    expect(off).toMatchObject({ is_error: true, error: { code: "tool_not_available" } });
  });

  it("a tool that does not decide in time is omitted", async () => {
    verifies("CONF-3");
    const waiting = defineTool({
      name: "a.slow",
      description: "Never says whether it is there",
      input_schema: { type: "object" },
      isEnabled: () => new Promise<boolean>(() => {}),
      handler: () => "x",
    });
    const values = parseConfig("[tools]\nresolve_timeout_ms = 20", "config.toml");
    const session = await createKernel({
      tools: [waiting],
      config: pickKernelConfig(values),
    }).openSession();
    const run = await session.startRun();
    const { error } = await run.call("a.slow", {});
    expect(error?.message).toContain("did not answer within 20 ms");
    await session.close();
  });

  it("a command sees the variables that are allowed, and no others", async () => {
    verifies("CONF-3");
    vi.stubEnv("SOONG_TEST_COLOUR", "blue");
    const input = { argv: ["sh", "-c", 'echo "it is $SOONG_TEST_COLOUR"'] };
    const without = await call("", "code.run_command", input);
    expect(JSON.stringify(without)).not.toContain("it is blue");
    const allowed = '[tools]\nenv_allowlist = ["SOONG_TEST_COLOUR"]';
    const result = await call(allowed, "code.run_command", input);
    expect(JSON.stringify(result)).toContain("it is blue");
  });

  it("a declarative tool sees them, too", async () => {
    verifies("CONF-3", "DECL-7");
    vi.stubEnv("SOONG_TEST_COLOUR", "it is blue");
    const tool = {
      name: "test.colour",
      description: "The colour",
      input_schema: { type: "object" },
      permission: "readonly",
      command_type: "exec",
      command: "/usr/bin/printenv",
      args: ["SOONG_TEST_COLOUR"],
      output: "text",
    };
    await mkdir(join(around, "home", "tools"), { recursive: true });
    await writeFile(join(around, "home", "tools", "colour.json"), JSON.stringify(tool));
    expect(await call("", "test.colour", {})).toMatchObject({ is_error: true });
    const allowed = '[tools]\nenv_allowlist = ["SOONG_TEST_COLOUR"]';
    expect(await call(allowed, "test.colour", {})).toMatchObject({ summary: "it is blue" });
  });

  it("a further root may be written to", async () => {
    verifies("CONF-3");
    const path = join(around, "other", "a.txt");
    const input = { path, content: "x" };
    const refused = await call("", "code.write_file", input);
    expect([refused.is_error, existsSync(path)]).toEqual([true, false]);
    const roots = `[tools]\nwrite_roots = ["${join(around, "other")}"]`;
    expect(await call(roots, "code.write_file", input)).toMatchObject({ is_error: false });
    expect(existsSync(path)).toBe(true);
  });

  it("the write roots are accepted under the name allowed_write_roots", async () => {
    verifies("PATH-7", "CONF-3");
    const path = join(around, "other-name", "a.txt");
    const roots = `[tools]\nallowed_write_roots = ["${join(around, "other-name")}"]`;
    const written = await call(roots, "code.write_file", { path, content: "x" });
    expect([written.is_error, existsSync(path)]).toEqual([false, true]);
  });

  it("under TMPDIR writing is ordinary where its switch says so", async () => {
    verifies("PATH-7", "CONF-3");
    const tmp = join(around, "tmp");
    await mkdir(tmp);
    vi.stubEnv("TMPDIR", tmp);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const path = join(tmp, "a.txt");
    for (const config of ["", "[tools]\ntmp_dir = false"]) {
      const refused = await call(config, "code.write_file", { path, content: "x" });
      expect([refused.is_error, refused.error?.code, existsSync(path)]).toEqual([
        true,
        "write_outside_allowed_roots",
        false,
      ]);
    }
    const written = await call("[tools]\ntmp_dir = true", "code.write_file", {
      path,
      content: "x",
    });
    expect([written.is_error, existsSync(path)]).toEqual([false, true]);
  });

  it("a hook that takes too long is not waited for", async () => {
    verifies("CONF-3");
    const guard = { id: "guard", event: "PreToolUse", command: ["sleep", "600"] };
    await writeFile(join(home, "hooks.json"), JSON.stringify({ hooks: [guard] }), { mode: 0o600 });
    const result = await call("[hooks]\ntimeout_ms = 50", "code.list_dir", { path: "." });
    expect(result).toMatchObject({ is_error: true });
    expect(result.summary).toContain("guard");
  });

  it("the default model answers, and those of the fallback behind it", async () => {
    verifies("CONF-3", "MODEL-4");
    const script = join(around, "s.yaml");
    await writeFile(script, "turns: [ { text: hi } ]");
    const values = parseConfig(
      `model.default = "mine"
[models]
fallback = ["openai:gpt-x", "mine", "script:${script}"]
[models.profiles.mine]
provider = "anthropic"
model = "claude-x"`,
      "config.toml",
    );
    const env = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b" };
    const ids = async (given?: string) =>
      (await openModels(values, env, given)).map(({ id }) => id);
    expect(await ids()).toEqual(["anthropic:claude-x", "openai:gpt-x", `script:${script}`]);
    expect(await ids("openai:gpt-x")).toEqual([
      "openai:gpt-x",
      "anthropic:claude-x",
      `script:${script}`,
    ]);
  });

  it("a profile is asked where it says, with its key, limits and prices", async () => {
    verifies("CONF-3");
    const server = await startReplayServer();
    onTestFinished(() => server.close());
    const values = parseConfig(
      `[models.profiles.mine]
provider = "openai-compatible"
model = "tiny"
base_url = "${server.url}/v1"
api_key_env = "MY_KEY"
context_window = 5000
max_output_tokens = 77
prices = { input = 1, output = 2, cache_read = 0.1, cache_write = 1.25, currency = "EUR" }`,
      "config.toml",
    );
    const [model] = await openModels(values, { MY_KEY: "s3cret-value" }, "mine");
    expect(model).toMatchObject({
      id: "openai-compatible:tiny",
      profile: { context_window: 5000, max_output_tokens: 77 },
      prices: { currency: "EUR", input: 1, output: 2, cache_read: 0.1, cache_write: 1.25 },
    });
    server.reply(events(compatibleWire.begin, compatibleWire.end("end", { input: 1, output: 1 })));
    const content = [{ type: "text" as const, text: "hi" }];
    const request = {
      index: 1,
      system: [],
      messages: [{ role: "user" as const, content }],
      tools: [],
    };
    for await (const event of model.stream(request, new AbortController().signal)) {
      expect(event.type).not.toBe("failed");
    }
    expect(server.requests).toMatchObject([
      {
        path: "/v1/chat/completions",
        headers: { authorization: "Bearer s3cret-value" },
        body: { model: "tiny", max_tokens: 77 },
      },
    ]);
    await expect(openModels(values, {}, "mine")).rejects.toThrow("MY_KEY");
  });
});
