// What there is of other agents, from small homes as those programs leave them, to what would be in the home here.

import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { loadConfig } from "../config/index.ts";
import { findInClaudeCode } from "./claude-code.ts";
import { findInCodex } from "./codex.ts";
import type { Found, ImportPlaces } from "./found.ts";
import { findInGemini } from "./gemini.ts";
import { findInOpencode } from "./opencode.ts";
import { planImport, type ImportPlan } from "./plan-import.ts";
import { nameSecrets } from "./servers.ts";
import { writeImport } from "./write-import.ts";

interface World {
  readonly user: string;
  readonly home: string;
  plan(
    find: (places: ImportPlaces) => Promise<Found>,
    more?: Partial<ImportPlaces>,
  ): Promise<ImportPlan>;
}

async function createWorld(files: Readonly<Record<string, string | object>>): Promise<World> {
  const user = await realpath(await mkdtemp(join(tmpdir(), "soong-import-")));
  onTestFinished(() => rm(user, { recursive: true, force: true }));
  const home = join(user, ".soong-agent");
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(user, path)), { recursive: true });
    const text = typeof content === "string" ? content : JSON.stringify(content);
    await writeFile(join(user, path), text);
  }
  return {
    user,
    home,
    async plan(find, more = {}) {
      const places = {
        env: { HOME: user },
        userHome: user,
        cwd: join(user, "p"),
        withProject: false,
      };
      return planImport(await find({ ...places, ...more }), await loadConfig({ home }), {});
    },
  };
}

function lines({ items }: ImportPlan): string[] {
  return items.map(({ kind, name, state, detail }) =>
    `${state} ${kind} ${name} ${detail}`.trimEnd(),
  );
}

function refusals({ unmapped }: ImportPlan): string[] {
  return unmapped.map(({ what, why }) => `${what}: ${why}`);
}

const SKILL = "---\nname: deploy\ndescription: Deploys.\n---\nDo.\n";

describe("Claude Code", () => {
  const FILES = {
    ".claude.json": {
      mcpServers: {
        github: { command: "npx", args: ["gh"], env: { GITHUB_TOKEN: "ghp_secret", LEVEL: "1" } },
        old: { type: "sse", url: "https://x.example/sse" },
      },
    },
    ".claude/settings.json": {
      permissions: {
        allow: ["Bash(npm test:*)", "Bash(*)"],
        deny: ["Read(./secrets/**)"],
        defaultMode: "bypassPermissions",
      },
      sandbox: {
        enabled: true,
        excludedCommands: ["docker"],
        network: { allowedDomains: ["registry.npmjs.org"], allowUnixSockets: ["/run/x"] },
        enableWeakerNestedSandbox: true,
      },
    },
    ".claude/agents/reviewer.md":
      "---\nname: reviewer\ndescription: Reviews.\ntools: Read, TodoWrite\n---\nReview.\n",
    ".claude/agents/broken.md": "no front matter",
    ".claude/commands/fix.md": "Fix $ARGUMENTS.\n",
    ".claude/skills/deploy/SKILL.md": SKILL,
    ".claude/skills/deploy/run.sh": "echo",
    ".claude/CLAUDE.md": "Use pnpm.\n@~/more.md\n",
    "p/.claude/settings.json": { permissions: { allow: ["Bash(make:*)"] } },
    "p/.mcp.json": { mcpServers: { local: { command: "srv" } } },
  };

  test("is taken over, what has no counterpart is named, and no key is copied", async () => {
    verifies("CONF-1", "CONF-2");
    const world = await createWorld(FILES);
    const plan = await world.plan(findInClaudeCode);
    expect(lines(plan)).toEqual([
      "new server github GITHUB_TOKEN=${GITHUB_TOKEN} LEVEL=1 npx gh",
      'new rule deny Read(./secrets/**) { tool = "code.read_file", path = "secrets/**", decision = "deny" }',
      'new rule allow Bash(npm test:*) { tool = "code.run_command", argv = ["npm", "test", "**"], decision = "allow" }',
      "new agent reviewer Reviews.",
      "new skill deploy Deploys.",
      "new command /fix",
      "new instructions CLAUDE.md",
    ]);
    expect(refusals(plan)).toEqual([
      "MCP server old: it uses the sse transport, which is not supported; most servers offer http as well",
      "allow Bash(*): would allow every command; allow the ones you mean",
      "defaultMode bypassPermissions: no mode that allows calls is taken over: allow what you mean by rules",
      "sandbox.enabled true: is how it is here: sandbox.mode is on by default",
      "sandbox.autoAllowBashIfSandboxed true: commands in the sandbox require approval here; sandbox.auto_allow = true lets them run without",
      'sandbox.excludedCommands docker: a rule with its argv and sandbox = "off" runs it outside the sandbox',
      "sandbox.network.allowedDomains registry.npmjs.org: add it to permissions.network.hosts, which opens it in the sandbox",
      "sandbox.network.allowUnixSockets: has no counterpart here: docs/sandbox.md says what is open and closed",
      "sandbox.enableWeakerNestedSandbox: has no counterpart here: docs/sandbox.md says what is open and closed",
      "@~/more.md: is not followed here: put its text into AGENTS.md",
      expect.stringMatching(
        /^agent broken: .*broken\.md:1:1: does not begin with its front matter/,
      ),
    ]);
    expect(JSON.stringify(plan)).not.toContain("ghp_secret");

    const written = await writeImport(plan, world.home, {});
    expect(written.map((file) => file.slice(world.home.length + 1))).toEqual([
      "mcp.json",
      "config.toml",
      "agents/reviewer.md",
      "commands/fix.md",
      "AGENTS.md",
      "skills/deploy",
    ]);
    const servers: unknown = JSON.parse(await readFile(join(world.home, "mcp.json"), "utf8"));
    expect(servers).toEqual({
      mcpServers: {
        github: {
          command: "npx",
          args: ["gh"],
          env: { GITHUB_TOKEN: "${GITHUB_TOKEN}", LEVEL: "1" },
        },
      },
    });
    expect(await readFile(join(world.home, "skills/deploy/run.sh"), "utf8")).toBe("echo");
    const { values } = await loadConfig({ home: world.home });
    expect(values.permissions.rules).toHaveLength(2);

    // A second time everything is there, and stays.
    await writeFile(join(world.home, "AGENTS.md"), "Mine.\n");
    const again = await world.plan(findInClaudeCode);
    expect(again.items.filter(({ state }) => state === "new")).toEqual([]);
    expect(await writeImport(again, world.home, {})).toEqual([]);
    expect(await readFile(join(world.home, "AGENTS.md"), "utf8")).toBe("Mine.\n");
  });

  test("settings of the project count only where the user asks, and hold there alone", async () => {
    verifies("CONF-1");
    const world = await createWorld(FILES);
    expect(JSON.stringify(await world.plan(findInClaudeCode))).not.toContain("make");
    const { rules, servers, items } = await world.plan(findInClaudeCode, { withProject: true });
    expect(rules.at(-1)).toMatchObject({ argv: ["make", "**"], project: join(world.user, "p") });
    expect(servers).toHaveProperty("local");
    expect(items.find(({ name }) => name === "local")?.from).toBe(join(world.user, "p/.mcp.json"));
  });

  test("what is broken costs itself alone; a skill with a link is not copied", async () => {
    const world = await createWorld({
      ".claude.json": "{",
      ".claude/settings.json": "[",
      ".claude/skills/deploy/SKILL.md": SKILL,
      ".claude/commands/ok.md": "Do it.",
      ".claude/commands/no name.md": "x",
      ".claude/commands/git/pr.md": "x",
    });
    await symlink("/etc/hosts", join(world.user, ".claude/skills/deploy/hosts"));
    const plan = await world.plan(findInClaudeCode);
    expect(lines(plan)).toEqual(["new command /ok"]);
    expect(refusals(plan).map((one) => one.split(":")[0])).toEqual([
      "MCP servers",
      "settings.json",
      "commands/git/",
      "skill deploy",
      "command no name",
    ]);
  });
});

test("Codex: servers with variables, prefix rules, prompts; modes that allow are named", async () => {
  const world = await createWorld({
    ".codex/config.toml": `approval_policy = "never"
sandbox_mode = "danger-full-access"
[sandbox_workspace_write]
network_access = true
writable_roots = ["/srv/out"]
[mcp_servers.docs]
url = "https://docs.example/mcp"
bearer_token_env_var = "DOCS_TOKEN"
tool_timeout_sec = 30
[mcp_servers.some]
command = "some"
enabled_tools = ["a"]
`,
    ".codex/rules/default.rules": `# mine
prefix_rule(
  pattern = ["git", "status"],
  decision = "allow",
)
prefix_rule(pattern = ["rm"], decision = "forbidden")
prefix_rule(pattern = ["gh", ["pr", "issue"]], decision = "prompt")
`,
    ".codex/AGENTS.md": "Be brief.",
    ".codex/prompts/review.md": "Review $1.",
  });
  const plan = await world.plan(findInCodex);
  expect(plan.servers).toEqual({
    docs: {
      url: "https://docs.example/mcp",
      headers: { Authorization: "Bearer ${DOCS_TOKEN}" },
      timeout_ms: 30_000,
    },
    // Only some of its tools were wanted.
    some: { command: "some", disabled: true },
  });
  expect(plan.rules.map(({ argv, decision }) => `${decision} ${argv?.join(" ")}`)).toEqual([
    "allow git status **",
    "deny rm **",
  ]);
  expect([...plan.texts.values()]).toEqual(["Review $1.", "Be brief.\n"]);
  expect(refusals(plan)).toEqual([
    'approval_policy = "never": would never ask; allow what you mean by rules',
    'sandbox_mode = "danger-full-access": would give access to the whole machine: sandbox.mode = "off" runs commands outside the sandbox, and tools.write_roots names more directories',
    "sandbox_workspace_write.network_access = true: no setting opens every host: permissions.network.hosts names those that commands reach",
    "sandbox_workspace_write.writable_roots /srv/out: add it to tools.write_roots if commands may write there",
    'prefix_rule(pattern = ["gh", ["pr", "issue"]], decision = "prompt"): is more than a list of words; write it as a rule',
  ]);
});

test("Gemini CLI: allowed and excluded tools, commands in TOML, agents", async () => {
  const world = await createWorld({
    ".gemini/settings.json": {
      mcpServers: { a: { httpUrl: "https://a.example/mcp", trust: true }, b: { command: "b" } },
      mcp: { excluded: ["b"] },
      tools: {
        allowed: ["run_shell_command(git log)", "run_shell_command"],
        exclude: ["write_file", "run_shell_command(rm)"],
      },
    },
    ".gemini/GEMINI.md": "Speak plainly.",
    ".gemini/commands/plan.toml": 'description = "Plans"\nprompt = "Plan {{args}}."\n',
    ".gemini/commands/diff.toml": 'prompt = "Look: !{git diff}"\n',
    ".gemini/agents/scout.md":
      "---\nname: scout\ndescription: Looks.\ntools: [read_file, glob, save_file]\nmax_turns: 4\n---\nLook.\n",
  });
  const plan = await world.plan(findInGemini);
  expect(plan.servers).toEqual({
    a: { url: "https://a.example/mcp" },
    b: { command: "b", disabled: true },
  });
  expect(plan.rules.map(({ tool, argv, decision }) => [decision, tool, argv?.join(" ")])).toEqual([
    ["allow", "code.run_command", "git log **"],
    ["deny", "code.edit_file", undefined],
    ["deny", "code.write_file", undefined],
    ["deny", "code.run_command", "rm **"],
  ]);
  expect(plan.texts.get(join(world.home, "commands/plan.md"))).toBe(
    '---\ndescription: "Plans"\n---\n\nPlan $ARGUMENTS.\n',
  );
  expect(plan.texts.get(join(world.home, "agents/scout.md"))).toContain(
    'allowed_tools: ["code.read_file","code.list_dir"]\nskip_missing_tools: true\nmax_turns: 4',
  );
  expect(refusals(plan)).toEqual([
    "allow run_shell_command: would allow every command; allow the ones you mean",
    "command diff: runs a command or inserts a file while it is read, which commands here do not",
    "tool save_file of the agent scout: is no tool that is known here",
  ]);
});

test("opencode: patterns where the last match counts, agents and commands of the file and beside it", async () => {
  const world = await createWorld({
    ".config/opencode/opencode.jsonc": `{
  // mine
  "mcp": { "a": { "type": "local", "command": ["a", "--x"], "environment": { "KEY": "{env:KEY}" } } },
  "permission": {
    "edit": "allow",
    "webfetch": "deny",
    "bash": { "*": "ask", "git *": "allow", "git push *": "deny" }
  },
  "agent": { "writer": { "prompt": "Write.", "mode": "primary", "tools": { "bash": false } }, "build": { "model": "x" } },
  "command": { "test": { "template": "Run the tests of $ARGUMENTS", "description": "Tests" } },
  "instructions": ["CONTRIBUTING.md"],
}`,
    ".config/opencode/agent/docs.md":
      "---\ndescription: Docs.\nmode: subagent\n---\nDocument it.\n",
    ".config/opencode/AGENTS.md": "Hello.",
  });
  const plan = await world.plan(findInOpencode);
  expect(plan.servers).toEqual({ a: { command: "a", args: ["--x"], env: { KEY: "${KEY}" } } });
  expect(
    plan.rules.map(({ tool, argv, path, decision }) => [decision, tool, argv?.join(" ") ?? path]),
  ).toEqual([
    ["allow", "code.edit_file", "**"],
    ["allow", "code.write_file", "**"],
    ["deny", "web.fetch", undefined],
    ["allow", "code.run_command", "git **"],
    ["deny", "code.run_command", "git push **"],
  ]);
  expect(plan.items.filter(({ kind }) => kind === "agent").map(({ name }) => name)).toEqual([
    "writer",
    "docs",
  ]);
  expect(plan.texts.get(join(world.home, "agents/writer.md"))).toContain(
    'roles: ["main"]\nrules: [{"tool":"code.run_command","decision":"deny"}]',
  );
  expect(refusals(plan)).toEqual([
    "ask bash: is not needed: what is not allowed by a rule requires approval",
    "agent build: changes a built-in agent and has no prompt of its own",
    "instructions CONTRIBUTING.md: is a file of each project; AGENTS.md of a project is read here",
  ]);
});

test("no name in a file leads out of its folder, neither to read nor to write", async () => {
  verifies("CONF-2");
  const world = await createWorld({
    ".config/opencode/opencode.json": {
      agent: { "../../evil": { prompt: "Be evil." }, "../AGENTS": { prompt: "Be evil." } },
      command: { "../evil": { template: "Be evil." } },
    },
    ".gemini/settings.json": { contextFileName: ["../.ssh/id", "MINE.md"] },
    ".gemini/MINE.md": "Mine.",
    ".ssh/id": "a secret",
  });
  const opencode = await world.plan(findInOpencode);
  expect([...opencode.texts.keys()]).toEqual([]);
  expect(refusals(opencode)).toHaveLength(3);
  const gemini = await world.plan(findInGemini);
  expect([...gemini.texts.values()]).toEqual(["Mine.\n"]);
  expect(refusals(gemini)).toEqual([
    "instructions ../.ssh/id: is no name of a file in that folder",
  ]);
});

test("a rule with many blanks and no end is read at once", async () => {
  const blanks = `pattern = [${'"a"   '.repeat(5000)}`;
  const world = await createWorld({ ".codex/rules/a.rules": `prefix_rule(${blanks})` });
  expect(refusals(await world.plan(findInCodex))).toHaveLength(1);
});

test("a secret of a server becomes the name of a variable, wherever it is", () => {
  verifies("CONF-2", "MCP-8");
  const { entry, variables } = nameSecrets("my-srv", {
    args: ["--api-key", "k1", "--token=t1", "postgres://u:p1@db/x", "--port", "80", "${SET}"],
    env: { API_KEY: "e1", HOME_DIR: "/x", SET: "${SET}" },
    url: "https://x.example/mcp?api_key=q1&page=2",
    headers: { Authorization: "Bearer h1", "X-Api-Key": "h2", "User-Agent": "me" },
    oauth: { client_id: "id", client_secret: "o1" },
  });
  expect(entry).toEqual({
    args: [
      "--api-key",
      "${MY_SRV_API_KEY}",
      "--token=${MY_SRV_TOKEN_2}",
      "postgres://u:${MY_SRV_PASSWORD}@db/x",
      "--port",
      "80",
      "${SET}",
    ],
    env: { API_KEY: "${API_KEY}", HOME_DIR: "/x", SET: "${SET}" },
    url: "https://x.example/mcp?api_key=${MY_SRV_API_KEY_2}&page=2",
    headers: {
      Authorization: "Bearer ${MY_SRV_TOKEN}",
      "X-Api-Key": "${MY_SRV_X_API_KEY}",
      "User-Agent": "me",
    },
    oauth: { client_id: "id", client_secret: "${MY_SRV_CLIENT_SECRET}" },
  });
  expect(variables).toEqual(expect.arrayContaining(["API_KEY", "MY_SRV_API_KEY", "MY_SRV_TOKEN"]));
});
