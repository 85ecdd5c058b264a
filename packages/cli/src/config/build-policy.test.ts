import { createKernel, defineTool, type ChainEntry } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { pickKernelConfig, buildPolicy, type PolicyFlags } from "./apply-config.ts";
import { parseConfig } from "./parse-config.ts";

const FILE = "/home/me/.soong-agent/config.toml";
const CONFIG = `# rules, the same shape everywhere
[tools]
sensitive_paths = ["*.secret"]

[[permissions.rules]]
tool = "notes.*"
path = "locked/**"
decision = "deny"
reason = "locked by ops"

[[permissions.rules]]
tool = "notes.run"
tags = ["shell"]
argv = ["git", "status", "**"]
decision = "allow"
reason = "read-only git"

[[permissions.rules]]
host = "*.example.org"
decision = "ask"
every_time = true
`;

const NO_FLAGS: PolicyFlags = { allow: [], deny: [] };

async function chainOf(
  config: string,
  flags: PolicyFlags,
  tool: "notes.edit" | "notes.run" | "notes.fetch",
  input: Record<string, unknown>,
): Promise<{ outcome: string; reason: string; chain: readonly ChainEntry[] }> {
  const values = parseConfig(config, FILE);
  const anything = { type: "object" } as const;
  const kernel = createKernel({
    config: pickKernelConfig(values),
    tools: [
      defineTool({
        name: "notes.edit",
        description: "Edits a note.",
        input_schema: anything,
        destructive: false,
        prepare: ({ path }: Record<string, unknown>) => ({
          resources: [{ kind: "path", path: String(path), access: "write" }],
        }),
        handler: () => "edited",
      }),
      defineTool({
        name: "notes.run",
        description: "Runs a command.",
        input_schema: anything,
        tags: ["shell"],
        destructive: false,
        prepare: ({ argv }: Record<string, unknown>) => ({
          resources: [
            {
              kind: "command",
              executable: "/usr/bin/git",
              argv: argv as string[],
              cwd: "/project",
            },
          ],
        }),
        handler: () => "ran",
      }),
      defineTool({
        name: "notes.fetch",
        description: "Fetches a page.",
        input_schema: anything,
        permission: "readonly",
        tags: ["network"],
        prepare: ({ host }: Record<string, unknown>) => ({
          resources: [{ kind: "host", host: String(host) }],
        }),
        handler: () => "fetched",
      }),
    ],
  });
  const run = await kernel.startRun({
    policy: { ...buildPolicy(values, flags), home: "/home/me" },
    roots: { project: "/project", write: ["/project"] },
    ...(flags.mode === undefined ? {} : { mode: flags.mode }),
  });
  const explained = await run.explain({ name: tool, arguments: input });
  if (explained.outcome === "refused") throw new Error(explained.error.message);
  return explained;
}

function decisive(chain: readonly ChainEntry[]): ChainEntry | undefined {
  return chain.find((entry) => entry.decisive === true);
}

describe("a rule of the config", () => {
  test("is found again by explain, with its file and line", async () => {
    verifies("PERM-11");
    const { outcome, reason, chain } = await chainOf(CONFIG, NO_FLAGS, "notes.edit", {
      path: "/project/locked/a",
    });
    expect(outcome).toBe("deny");
    expect(reason).toBe("locked by ops");
    expect(decisive(chain)).toMatchObject({ origin: { file: FILE, line: 5 } });
  });

  test("may match tags and the beginning of a command", async () => {
    verifies("CONF-4");
    const status = await chainOf(CONFIG, NO_FLAGS, "notes.run", { argv: ["git", "status", "-s"] });
    expect(status.outcome).toBe("allow");
    expect(decisive(status.chain)).toMatchObject({ origin: { file: FILE, line: 11 } });
    const push = await chainOf(CONFIG, NO_FLAGS, "notes.run", { argv: ["git", "push"] });
    expect(push.outcome).toBe("ask");
  });

  test("may match hosts, and ask every time", async () => {
    verifies("CONF-4");
    const { outcome, chain } = await chainOf(CONFIG, NO_FLAGS, "notes.fetch", {
      host: "a.example.org",
    });
    expect(outcome).toBe("ask");
    expect(chain).toContainEqual(
      expect.objectContaining({ origin: { file: FILE, line: 18 }, every_time: true }),
    );
  });

  test("may be in a list of inline tables, each with its own line", () => {
    verifies("CONF-4");
    const { rules } = buildPolicy(
      parseConfig(
        "permissions.rules = [\n  { tool = 'a.b', decision = 'ask' },\n  # more\n  { tool = 'c.d', decision = 'deny' } ]",
        FILE,
      ),
      NO_FLAGS,
    );
    expect(rules).toEqual([
      { tool: "a.b", decision: "ask", origin: { file: FILE, line: 2 } },
      { tool: "c.d", decision: "deny", origin: { file: FILE, line: 4 } },
    ]);
  });
});

describe("the sandbox of the config", () => {
  test("is the mode, and what tools and rules say instead", () => {
    verifies("CONF-3", "CMD-6");
    const text = `[sandbox]
mode = "required"
auto_allow = true
[tools.overrides."code.run_command"]
sandbox = "on"
timeout_ms = 5
[tools.overrides."code.*"]
timeout_ms = 9
[[permissions.rules]]
argv = ["docker", "**"]
decision = "ask"
sandbox = "off"
`;
    const { sandbox, rules } = buildPolicy(parseConfig(text, FILE), NO_FLAGS);
    expect(sandbox).toEqual({
      mode: "required",
      auto_allow: true,
      tools: { "code.run_command": "on" },
    });
    expect(rules).toEqual([
      {
        argv: ["docker", "**"],
        decision: "ask",
        sandbox: "off",
        origin: { file: FILE, line: 9 },
      },
    ]);
  });

  test.each(["off", "on", "required"] as const)(
    "as one word, `sandbox = %j`, is its mode",
    (mode) => {
      verifies("CMD-6");
      const values = parseConfig(`sandbox = "${mode}"\n[tools]\n`, FILE);
      expect(buildPolicy(values, NO_FLAGS).sandbox).toEqual({ mode, auto_allow: false, tools: {} });
    },
  );
});

describe("a flag", () => {
  test("is a rule like any other, and explain names it", async () => {
    verifies("CONF-4", "PERM-11");
    const allowed = await chainOf(CONFIG, { allow: ["notes.*"], deny: [] }, "notes.edit", {
      path: "/project/free",
    });
    expect(allowed.outcome).toBe("allow");
    expect(decisive(allowed.chain)).toMatchObject({ origin: { flag: "--allow notes.*" } });
    const both = { allow: ["notes.edit"], deny: ["notes.*"] };
    await expect(chainOf(CONFIG, both, "notes.edit", {})).rejects.toThrow("A rule denies this");
    expect(buildPolicy(parseConfig("", FILE), both).rules).toEqual([
      { tool: "notes.*", decision: "deny", origin: { flag: "--deny notes.*" } },
      { tool: "notes.edit", decision: "allow", origin: { flag: "--allow notes.edit" } },
    ]);
  });

  test("never lifts a deny of the config", async () => {
    verifies("CONF-4");
    const flags = { allow: ["notes.edit"], deny: [] };
    const { outcome } = await chainOf(CONFIG, flags, "notes.edit", { path: "/project/locked/a" });
    expect(outcome).toBe("deny");
  });

  test.each(["edit", "", "two words.x"])("with %j is refused by its name", (pattern) => {
    const values = parseConfig("", FILE);
    for (const flag of ["allow", "deny"] as const) {
      const given = () => buildPolicy(values, { ...NO_FLAGS, [flag]: [pattern] });
      expect(given).toThrow(expect.objectContaining({ code: "invalid_flag", exitCode: 2 }));
      expect(given).toThrow(`--${flag} ${JSON.stringify(pattern)}: `);
    }
  });

  test("may choose the mode", () => {
    expect(buildPolicy(parseConfig("", FILE), { ...NO_FLAGS, mode: "plan" }).mode).toBe("plan");
    expect(buildPolicy(parseConfig("", FILE), NO_FLAGS)).not.toHaveProperty("mode");
  });
});

describe("what holds without a rule", () => {
  test("comes from the config: sensitive paths, network, destructive calls, readonly marks", async () => {
    verifies("CONF-3");
    const text =
      "[tools]\nsensitive_paths = ['*.vault']\n[tools.overrides.'mcp.git.*']\nreadonly = true\n[tools.overrides.'mcp.x.*']\nreadonly = false\n[permissions]\ndestructive = 'deny'\nread_only_commands = 'ask'\n[permissions.network]\nmode = 'hosts'\nhosts = ['example.org']\n";
    expect(buildPolicy(parseConfig(text, FILE), NO_FLAGS)).toEqual({
      rules: [],
      sensitive_paths: ["*.vault"],
      readonly_mcp: ["mcp.git.*"],
      destructive: "deny",
      read_only_commands: "ask",
      network: { mode: "hosts", hosts: ["example.org"] },
      sandbox: { mode: "on", auto_allow: false, tools: {} },
    });
    const elsewhere = await chainOf(text, NO_FLAGS, "notes.fetch", { host: "other.org" });
    expect(elsewhere.outcome).toBe("deny");
  });
});
