// The MCP servers of other agents on this machine: where each of those programs keeps them, and what their entries are in
// the form of mcp.json. Only files of the user are looked for; one of a project is read if the user names it.

import { existsSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { messageOf } from "@soong/core";
import {
  describeProblem,
  parseDocument,
  readBoundedFile,
  type DocumentPath,
} from "@soong/platform";
import { isRecord, omitUndefined } from "@soong/schema";
import { userHome } from "../config/index.ts";
import { SetupError } from "./home.ts";

type Environment = Readonly<Record<string, string | undefined>>;
export type ServerEntry = Readonly<Record<string, unknown>>;

export const HOST_NAMES = {
  "claude-code": "Claude Code",
  codex: "Codex",
  gemini: "Gemini CLI",
  opencode: "opencode",
  cursor: "Cursor",
  vscode: "VS Code",
} as const;

export type HostId = keyof typeof HOST_NAMES;

export interface HostServer {
  readonly host: HostId;
  readonly file: string;
  readonly format: "jsonc" | "toml";
  /** Of the entry in the file. */
  readonly path: DocumentPath;
  readonly name: string;
  /** As that program has it. */
  readonly entry: ServerEntry;
}

/** Of all programs, or of one; `file`: of that file alone. Throws a SetupError for a file that cannot be read. */
export async function findHostServers(
  env: Environment,
  { cwd, host, file }: { readonly cwd: string; readonly host?: HostId; readonly file?: string },
): Promise<HostServer[]> {
  const ids = host === undefined ? (Object.keys(HOST_NAMES) as HostId[]) : [host];
  const places =
    file === undefined
      ? ids.flatMap((id) => hostFiles(id, env).map((path) => ({ id, path })))
      : [{ id: host, path: file }];
  const found = await Promise.all(
    places.map(async ({ id, path }) => {
      if (file === undefined && !existsSync(path)) return [];
      const format = path.endsWith(".toml") ? "toml" : "jsonc";
      const value = await readHostFile(path, format);
      const of = id ?? guessHost(path, value);
      return hostRoots(of, cwd).flatMap((root): HostServer[] => {
        let servers: unknown = value;
        for (const step of root) servers = isRecord(servers) ? servers[step] : undefined;
        if (!isRecord(servers)) return [];
        return Object.entries(servers).flatMap(([name, entry]) =>
          isRecord(entry)
            ? [{ host: of, file: path, format, path: [...root, name], name, entry }]
            : [],
        );
      });
    }),
  );
  return found.flat();
}

/** Where a program keeps its servers for this user; not all of them need be there. */
export function hostFiles(host: HostId, env: Environment): string[] {
  const home = userHome(env);
  const config = env["XDG_CONFIG_HOME"] ?? "";
  const xdg = isAbsolute(config) ? config : join(home, ".config");
  const from = (variable: string, otherwise: string): string => {
    const given = env[variable] ?? "";
    return isAbsolute(given) ? given : otherwise;
  };
  switch (host) {
    case "claude-code":
      return [join(from("CLAUDE_CONFIG_DIR", home), ".claude.json")];
    case "codex":
      return [join(from("CODEX_HOME", join(home, ".codex")), "config.toml")];
    case "gemini":
      return [join(home, ".gemini", "settings.json")];
    case "opencode":
      return ["opencode.json", "opencode.jsonc", "config.json"].map((name) =>
        join(xdg, "opencode", name),
      );
    case "cursor":
      return [join(home, ".cursor", "mcp.json")];
    case "vscode": {
      const user =
        process.platform === "darwin"
          ? join(home, "Library", "Application Support", "Code", "User")
          : join(xdg, "Code", "User");
      return [join(user, "mcp.json")];
    }
  }
}

/** Some keep their whole history in the same file. */
const MAX_BYTES = 64 * 1024 * 1024;

export async function readHostText(file: string): Promise<string> {
  const refuse = (why: string) => new SetupError([`${file}: ${why}`], "Nothing was written.");
  const read = await readBoundedFile(file, MAX_BYTES).catch((error: unknown) => {
    throw refuse(`cannot be read: ${messageOf(error)}`);
  });
  if (read.kind !== "file") throw refuse("is not a file that can be read");
  const text = read.bytes.toString("utf8");
  if (!Buffer.from(text).equals(read.bytes)) throw refuse("is not UTF-8");
  return text;
}

async function readHostFile(file: string, format: HostServer["format"]): Promise<unknown> {
  const text = await readHostText(file);
  if (text.trim() === "") return {};
  const parsed = parseDocument(text, file, format);
  if (parsed.ok) return parsed.document.value;
  throw new SetupError(parsed.problems.map(describeProblem), "Fix that file first.");
}

function guessHost(file: string, value: unknown): HostId {
  if (file.endsWith(".toml")) return "codex";
  if (isRecord(value) && isRecord(value["mcp"])) return "opencode";
  if (isRecord(value) && isRecord(value["servers"])) return "vscode";
  return basename(file) === "settings.json" ? "gemini" : "claude-code";
}

function hostRoots(host: HostId, cwd: string): DocumentPath[] {
  switch (host) {
    case "claude-code":
      return [["mcpServers"], ["projects", cwd, "mcpServers"]];
    case "codex":
      return [["mcp_servers"]];
    case "opencode":
      return [["mcp"]];
    case "vscode":
      return [["servers"]];
    case "gemini":
    case "cursor":
      return [["mcpServers"]];
  }
}

export interface TranslatedServer {
  /** For mcp.json. */
  readonly entry: ServerEntry;
  /** Keys that say something mcp.json cannot; rights are never taken over. */
  readonly dropped: readonly string[];
  /** Sentences about what works differently here. */
  readonly notes: readonly string[];
  /** Why there can be no entry. */
  readonly problem?: string;
}

/** How a program reaches a server: what of its entry the gateway replaces. */
export const TRANSPORT_KEYS = (
  "command args env cwd envFile url httpUrl serverUrl headers type transport oauth auth authProviderType " +
  "environment env_vars http_headers env_http_headers bearer_token_env_var"
).split(" ");

export function translateServer(server: HostServer, env: Environment): TranslatedServer {
  const { host, entry } = server;
  const read = new Set<string>(["type", "transport", "enabled", "disabled"]);
  const take = (...keys: readonly string[]): unknown => {
    const key = keys.find((one) => entry[one] !== undefined);
    for (const one of keys) read.add(one);
    return key === undefined ? undefined : entry[key];
  };
  const notes: string[] = [];
  const commandLine = take("command");
  const [command, ...words] = Array.isArray(commandLine)
    ? (commandLine as unknown[])
    : [commandLine];
  const given = take("args");
  const args = Array.isArray(given) ? (given as unknown[]) : words;
  const url = take("url", "httpUrl", "serverUrl");
  const written = omitUndefined({
    command,
    args: command === undefined || args.length === 0 ? undefined : args,
    env: nonEmpty({ ...asRecord(take("env", "environment")), ...named(take("env_vars")) }),
    cwd: take("cwd"),
    url,
    headers: nonEmpty({
      ...asRecord(take("headers", "http_headers")),
      ...referTo(take("env_http_headers")),
      ...bearer(take("bearer_token_env_var")),
    }),
    oauth: readLogin(take("oauth")),
    disabled_tools: take("disabled_tools", "disabledTools", "excludeTools"),
    timeout_ms:
      seconds(take("tool_timeout_sec")) ?? (host === "gemini" ? take("timeout") : undefined),
    connect_timeout_ms: seconds(take("startup_timeout_sec")),
    disabled: entry["enabled"] === false || entry["disabled"] === true ? true : undefined,
  });
  const mapped = mapTexts(written, (text) => translateVariables(text, host, env)) as ServerEntry;
  const dropped = Object.keys(entry).filter((key) => !read.has(key));
  if (entry["envFile"] !== undefined)
    notes.push("The variables of its envFile are not taken over: name them with --env.");
  if (args.some((arg) => typeof arg === "string" && /^\.{1,2}(?:\/|$)/.test(arg))) {
    notes.push(
      "It is started in your home directory and not in the project: write relative arguments as absolute paths.",
    );
  }
  return {
    entry: mapped,
    dropped,
    notes,
    ...omitUndefined({ problem: findProblem(server, mapped) }),
  };
}

function findProblem({ entry }: HostServer, mapped: ServerEntry): string | undefined {
  const kind = entry["type"] ?? entry["transport"];
  if (kind === "sse")
    return "it uses the sse transport, which is not supported; most servers offer http as well";
  if (mapped["command"] === undefined && mapped["url"] === undefined) {
    return "it has neither a command nor an address";
  }
  const left = /\$\{(?:input:|command:|workspaceFolder|file)[^}]*\}|\{file:[^}]*\}/.exec(
    JSON.stringify(mapped),
  );
  return left === null ? undefined : `it uses ${left[0]}, which only that program can fill in`;
}

function translateVariables(text: string, host: HostId, env: Environment): string {
  switch (host) {
    case "gemini":
      return text.replaceAll(/\$([A-Za-z_][A-Za-z0-9_]*)/g, "${$1}");
    case "opencode":
      return text.replaceAll(/\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, "${$1}");
    case "cursor":
    case "vscode":
      return text.replaceAll("${userHome}", () => userHome(env));
    case "claude-code":
    case "codex":
      return text;
  }
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, mapTexts(of, map)]));
}

function asRecord(value: unknown): ServerEntry {
  return isRecord(value) ? value : {};
}

function nonEmpty(value: ServerEntry): ServerEntry | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

function readLogin(value: unknown): ServerEntry | undefined {
  const { clientId, clientSecret, scopes } = asRecord(value);
  return nonEmpty(omitUndefined({ client_id: clientId, client_secret: clientSecret, scopes }));
}

/** Variables by name, as the environment has them. */
function named(value: unknown): ServerEntry {
  const names = Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  return Object.fromEntries(names.map((name) => [name, `\${${name}}`]));
}

/** Headers whose values are variables. */
function referTo(value: unknown): ServerEntry {
  return Object.fromEntries(
    Object.entries(asRecord(value)).map(([header, name]) => [header, `\${${String(name)}}`]),
  );
}

function bearer(name: unknown): ServerEntry {
  return typeof name === "string" ? { Authorization: `Bearer \${${name}}` } : {};
}

function seconds(value: unknown): number | undefined {
  return typeof value === "number" ? Math.round(value * 1000) : undefined;
}
