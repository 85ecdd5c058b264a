import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { parseMcpSettings } from "./parse-settings.ts";
import type { McpServerEntry } from "./server-entry.ts";

function parse(servers: unknown, environment: Record<string, string> = {}) {
  return parseMcpSettings(
    JSON.stringify({ mcpServers: servers }, null, 2),
    "mcp.json",
    environment,
  );
}

function entryOf(settings: object, environment: Record<string, string> = {}): McpServerEntry {
  const parsed = parse({ one: settings }, environment);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const [entry] = parsed.servers;
  if (entry === undefined) throw new Error("no server");
  return entry;
}

function problemsOf(settings: unknown): string[] {
  const parsed = parse({ one: settings });
  return parsed.ok ? [] : parsed.problems.map(({ field, message }) => `${field}: ${message}`);
}

function warningsOf(settings: object): string[] {
  return parse({ one: settings }).warnings.map(({ field, message }) => `${field}: ${message}`);
}

describe("an entry", () => {
  test("with a command has the defaults that grant nothing", () => {
    verifies("MCP-1");
    const text = '{\n  "mcpServers": {\n    "git-hub": { "command": "github-mcp" }\n  }\n}\n';
    expect(parseMcpSettings(text, "mcp.json", {})).toEqual({
      ok: true,
      secrets: [],
      warnings: [],
      servers: [
        {
          server_id: "git-hub",
          transport: { kind: "stdio", command: "github-mcp", args: [], env: {} },
          disabled: false,
          disabled_tools: [],
          readonly_tools: [],
          tags: [],
          hosts: [],
          timeout_ms: 100_000,
          connect_timeout_ms: 30_000,
          missing_variables: [],
          place: { file: "mcp.json", line: 3 },
        },
      ],
    });
  });

  test("may want a sandbox for its program, with what is open in it", () => {
    verifies("CMD-6");
    const sandboxOf = (sandbox: unknown) => entryOf({ command: "x", sandbox }).transport;
    expect(sandboxOf(true)).toMatchObject({ sandbox: {} });
    expect(sandboxOf(false)).not.toHaveProperty("sandbox");
    const open = { hosts: ["api.example.org", "*.example.com"], write: ["~/data", "/srv/data"] };
    expect(sandboxOf(open)).toMatchObject({ sandbox: open });
    expect(problemsOf({ command: "x", sandbox: "yes" })).toEqual([
      "mcpServers.one.sandbox: is text; true or false is expected",
    ]);
    expect(
      problemsOf({
        command: "x",
        sandbox: { hosts: ["https://a.org"], write: ["data"], read: [] },
      }),
    ).toEqual([
      "mcpServers.one.sandbox.hosts[0]: is more than a host; leave out the scheme and the path",
      'mcpServers.one.sandbox.write[0]: is neither absolute nor below "~/"',
      "mcpServers.one.sandbox.read: is not a field of a sandbox; it has hosts, write",
    ]);
    expect(problemsOf({ url: "https://a.org/mcp", sandbox: true })).toEqual([
      'mcpServers.one.sandbox: "sandbox" means nothing for a server with "url".',
    ]);
  });

  test.each([
    [undefined, undefined],
    [true, undefined],
    ["all", undefined],
    [false, []],
    [["search"], ["search"]],
  ])("concurrency_safe: %j means %j", (given, expected) => {
    verifies("SCHED-10");
    const settings = { command: "x", ...(given === undefined ? {} : { concurrency_safe: given }) };
    expect(entryOf(settings).concurrency_safe).toEqual(expected);
    expect(problemsOf({ command: "x", concurrency_safe: 1 })).toHaveLength(1);
  });

  test("says everything that can be said of a program", () => {
    verifies("MCP-6");
    const trust = {
      disabled: true,
      disabled_tools: ["delete"],
      tags: ["work"],
      network: true,
      hosts: ["api.example.com"],
      description: "Issues",
      timeout_ms: 5,
      connect_timeout_ms: 6,
    };
    const how = { command: "/bin/x", args: ["-y"], env: { PORT: 80, A: "b" }, cwd: "/srv" };
    const entry = entryOf({ ...how, ...trust, readonly: ["list"] });
    expect(entry).toMatchObject({ ...trust, readonly_tools: ["list"] });
    expect(entry.transport).toEqual({ kind: "stdio", ...how, env: { PORT: "80", A: "b" } });
    expect(entryOf({ command: "x", readonly: true }).readonly_tools).toBe("all");
    expect(entryOf({ command: "x", readonly: false }).readonly_tools).toEqual([]);
    expect(entryOf({ command: "x", network: false }).network).toBe(false);
    expect(entryOf({ command: "x", hosts: ["api.example.com"] }).network).toBe(true);
  });

  test("with an address is reached by HTTP, under each name hosts have for it", () => {
    verifies("MCP-1");
    const transport = { kind: "http", url: "https://example.com/mcp", headers: { "X-A": "b" } };
    for (const type of [undefined, "http", "streamable-http", "streamableHttp"]) {
      for (const key of ["url", "httpUrl", "serverUrl"]) {
        const settings = { type, [key]: "https://example.com/mcp", headers: { "X-A": "b" } };
        expect(entryOf(settings)).toMatchObject({ transport, network: true });
      }
    }
  });

  test("may be written with comments, trailing commas and a byte order mark", () => {
    const text = '\uFEFF// mine\n{"mcpServers": {"a": {"command": "x",},},}';
    expect(parseMcpSettings(text, "mcp.json", {})).toMatchObject({ ok: true });
    expect(parseMcpSettings("{}", "mcp.json", {})).toMatchObject({ ok: true, servers: [] });
  });
});

describe("a key of another host", () => {
  test("that takes something away counts here as well", () => {
    verifies("MCP-6");
    expect(entryOf({ command: "x", enabled: false }).disabled).toBe(true);
    expect(entryOf({ command: "x", enabled: true, disabled: true }).disabled).toBe(true);
    expect(entryOf({ command: "x", disabledTools: ["a"] }).disabled_tools).toEqual(["a"]);
    expect(entryOf({ command: "x", excludeTools: ["a"] }).disabled_tools).toEqual(["a"]);
    for (const key of ["includeTools", "enabledTools", "enabled_tools", "tools"]) {
      expect(problemsOf({ command: "x", [key]: ["a"] })).toEqual([
        `mcpServers.one.${key}: "${key}" is not supported: name the tools that are not wanted in "disabled_tools".`,
      ]);
    }
  });

  test("that would grant something is reported and grants nothing", () => {
    verifies("MCP-6");
    const plain = entryOf({ command: "x" });
    for (const key of ["trust", "alwaysAllow", "autoApprove"]) {
      expect(entryOf({ command: "x", [key]: true })).toEqual(plain);
      expect(warningsOf({ command: "x", [key]: ["*"] })).toEqual([
        `mcpServers.one.${key}: "${key}" grants rights in another program and is ignored here: use a permission rule.`,
      ]);
    }
    expect(entryOf({ command: "x", timeout: 60 }).timeout_ms).toBe(100_000);
    expect(warningsOf({ command: "x", timeout: 60 })[0]).toContain('write "timeout_ms"');
  });
});

describe("the login of a remote server", () => {
  const url = "https://example.com/mcp";
  const oauth = {
    client_id: "soong",
    client_secret: "${CLIENT_SECRET}",
    client_metadata_url: "https://example.com/client.json",
    scopes: ["a", "b"],
    redirect_uri: "http://127.0.0.1:8123/callback",
  };

  test("may be described by what the user knows, and its secret is one", () => {
    verifies("MCP-8");
    const text = JSON.stringify({ mcpServers: { one: { url, oauth } } });
    const parsed = parseMcpSettings(text, "mcp.json", { CLIENT_SECRET: "hush-hush" });
    expect(parsed).toMatchObject({
      ok: true,
      servers: [{ transport: { kind: "http", oauth: { ...oauth, client_secret: "hush-hush" } } }],
      warnings: [],
    });
    expect(parsed.ok && parsed.secrets.map(({ value }) => value)).toContain("hush-hush");
    expect(entryOf({ url, oauth: { clientId: "x", scopes: "a  b" } }).transport).toMatchObject({
      oauth: { client_id: "x", scopes: ["a", "b"] },
    });
    const literal = { client_id: "x", client_secret: "hush-hush", authorizationUrl: "https://x" };
    expect(warningsOf({ url, oauth: literal })).toEqual([
      'mcpServers.one.oauth.client_secret: This is a secret. Put it into the environment and write "${CLIENT_SECRET}", say.',
      'mcpServers.one.oauth.authorizationUrl: "authorizationUrl" has no effect here: the server says how to log in.',
    ]);
  });

  test.each([
    [true, 'oauth: This must be an object, such as {"client_id": "…"}.'],
    [
      { client_ids: "x" },
      'oauth.client_ids: "client_ids" is not a setting of a login. Did you mean "client_id"?',
    ],
    [{ client_id: 1 }, "oauth.client_id: is 1; text is expected: put it in quotes"],
    [{ client_secret: "${HOME}" }, 'oauth: "client_secret" is nothing without "client_id".'],
    [{ scopes: ["a\n"] }, "oauth.scopes: This holds a character no scope can have."],
    [
      { client_metadata_url: "http://example.com/c" },
      "oauth.client_metadata_url: This must be an address with https:// and a path.",
    ],
    [
      { client_metadata_url: "https://example.com" },
      "oauth.client_metadata_url: This must be an address with https:// and a path.",
    ],
    [
      { redirect_uri: "http://example.com:80/" },
      'oauth.redirect_uri: This must be an address of this machine with a port, such as "http://127.0.0.1:8123/callback".',
    ],
    [
      { client_id: "x", clientId: "x" },
      'oauth.clientId: "clientId" says the same as another key: "client_id".',
    ],
  ])("that is not one is refused in its place: %j", (given, problem) => {
    expect(problemsOf({ url, oauth: given })).toEqual([`mcpServers.one.${problem}`]);
  });

  test("means nothing for a program", () => {
    expect(problemsOf({ command: "x", oauth })).toEqual([
      'mcpServers.one.oauth: "oauth" means nothing for a server with "command".',
    ]);
  });
});

describe("a variable in an entry", () => {
  const environment = { GITHUB_TOKEN: "ghp_123456", HOME: "/home/me", EMPTY: "" };

  test("is filled in from the environment, and its value is known as a secret by its name", () => {
    verifies("MCP-8");
    const settings = {
      command: "x",
      args: ["--dir=${HOME}/a", "${env:HOME}", "${UNSET:-other}", "${EMPTY:-other}", "$HOME ${}"],
      env: { TOKEN: "${GITHUB_TOKEN}", LEVEL: "debug", PLAIN: "p ${GITHUB_TOKEN}" },
    };
    const parsed = parse({ one: settings }, environment);
    expect(parsed).toMatchObject({
      warnings: [],
      secrets: [{ name: "GITHUB_TOKEN", value: "ghp_123456" }],
    });
    expect(entryOf(settings, environment).transport).toMatchObject({
      args: ["--dir=/home/me/a", "/home/me", "other", "other", "$HOME ${}"],
      env: { TOKEN: "ghp_123456", LEVEL: "debug", PLAIN: "p ghp_123456" },
    });
  });

  test("of a header is hidden with and without its scheme", () => {
    verifies("MCP-8");
    const headers = { Authorization: "Bearer ${GITHUB_TOKEN}", "User-Agent": "Soong" };
    const literal = { one: { url: "https://example.com", headers: { "X-Any": "Basic abc123" } } };
    expect(parse(literal)).toMatchObject({
      secrets: [
        { name: "X-Any", value: "Basic abc123" },
        { name: "X-Any", value: "abc123" },
      ],
    });
    const url = "https://example.com/mcp?api_key=abcdef&page=2";
    expect(parse({ one: { url, headers } }, environment)).toMatchObject({
      secrets: [
        { name: "api_key", value: "abcdef" },
        { name: "GITHUB_TOKEN", value: "ghp_123456" },
        { name: "Authorization", value: "Bearer ghp_123456" },
      ],
    });
  });

  test("that is not set costs this server alone, and is named", () => {
    verifies("MCP-2");
    const parsed = parse({
      one: { url: "https://${HOST}/mcp", headers: { "X-Key": "${KEY} ${EMPTY}" } },
      two: { command: "x" },
    });
    const missing = parsed.ok ? parsed.servers.map((entry) => entry.missing_variables) : [];
    expect(missing).toEqual([["HOST", "KEY", "EMPTY"], []]);
    expect(entryOf({ command: "x", args: ["${toString}"] }).missing_variables).toEqual([
      "toString",
    ]);
  });

  test("is required where a secret is in the file", () => {
    const settings = { command: "x", env: { API_KEY: "abc-123456", MONKEY: "banana" } };
    expect(warningsOf(settings)).toEqual([
      'mcpServers.one.env.API_KEY: This looks like a secret. Put it into the environment and write "${API_KEY}".',
    ]);
    expect(parse({ one: settings })).toMatchObject({
      secrets: [{ name: "API_KEY", value: "abc-123456" }],
    });
  });
});

describe("a mistake", () => {
  test("is reported with its file, line, column and key, all of them at once", () => {
    verifies("MCP-1");
    const text = `{
  "mcpServers": {
    "a.b": { "command": "x" },
    "one": {
      "comand": "x",
      "args": ["ok", 3]
    },
    "two": { "type": "sse", "url": "https://example.com" }
  }
}`;
    const parsed = parseMcpSettings(text, "home/mcp.json", {});
    const problems = parsed.ok ? [] : parsed.problems;
    expect(problems.map(({ line, column, field }) => `${line}:${column} ${field}`)).toEqual([
      '3:5 mcpServers["a.b"]',
      "4:5 mcpServers.one",
      "5:7 mcpServers.one.comand",
      "8:22 mcpServers.two.type",
    ]);
    expect(problems[0]?.message).toContain("cannot be part of a tool's name");
    expect(problems[2]).toMatchObject({
      file: "home/mcp.json",
      message: '"comand" is not a setting of a server. Did you mean "command"?',
    });
    expect(problems[3]?.message).toContain('The "sse" transport is not supported');
  });

  test.each<[string, unknown, string]>([
    ["no object", 3, "must be an object"],
    ["nothing to reach", {}, "is missing"],
    ["two ways to reach it", { command: "x", url: "https://e.com" }, "Both"],
    ["a type that does not fit", { type: "http", command: "x" }, 'needs "url"'],
    ["an unknown type", { type: "ws", url: "https://e.com" }, '"stdio" or "http"'],
    ["a type that is no text", { type: 3, command: "x" }, "text is expected"],
    ["an empty command", { command: " " }, "program's name"],
    ["a relative command", { command: "./x" }, "absolute path"],
    ["a NUL", { command: "x\u0000y" }, "NUL"],
    ["a relative folder", { command: "x", cwd: "y" }, "absolute path"],
    ["headers for a program", { command: "x", headers: {} }, '"headers" means nothing'],
    ["args for an address", { url: "https://e.com", args: [] }, '"args" means nothing'],
    ["a list that is none", { command: "x", args: "y" }, "list of texts"],
    ["an item that is no text", { command: "x", args: [3] }, "text is expected"],
    ["env that is a list", { command: "x", env: [] }, "names and texts"],
    ["a value that is an object", { command: "x", env: { A: {} } }, "text is expected"],
    ["a name no variable has", { command: "x", env: { "A=B": "c" } }, "name of a variable"],
    ["no address", { url: "example" }, "must be an address"],
    ["a file as address", { url: "file:///x" }, "https://"],
    [
      "a password in the address",
      { url: "https://a:b@e.com" },
      "must not contain a user or password",
    ],
    ["a fragment", { url: "https://e.com/#x" }, '"#"'],
    ["a name no header has", { url: "https://e.com", headers: { "a b": "c" } }, "name of a header"],
    ["a header of the protocol", { url: "https://e.com", headers: { Host: "c" } }, "protocol"],
    ["a header with a line break", { url: "https://e.com", headers: { A: "b\nc" } }, "no header"],
    ["a header twice", { url: "https://e.com", headers: { A: "b", a: "c" } }, "twice"],
    ["one thing under two names", { url: "https://e.com", httpUrl: "https://e.com" }, "the same"],
    ["a flag in quotes", { command: "x", disabled: "true" }, "true or false"],
    ["a time of nothing", { command: "x", timeout_ms: 0 }, "milliseconds"],
    ["too long a time", { command: "x", timeout_ms: 2 ** 31 }, "milliseconds"],
    ["an address without network", { url: "https://e.com", network: false }, "cannot be false"],
    ["hosts without network", { command: "x", network: false, hosts: ["a"] }, "cannot be false"],
  ])("of %s is refused", (_, settings, expected) => {
    expect(problemsOf(settings).join("\n")).toContain(expected);
  });

  test("in the id of a server is refused", () => {
    verifies("MCP-1");
    const ids = ["", "a b", "a.b", "ü", "-a", "a".repeat(65), "a/b"];
    for (const id of ids) expect(parse({ [id]: { command: "x" } }).ok).toBe(false);
    for (const id of ["a", "21st-dev", "_x", "A-b_c"]) {
      expect(parse({ [id]: { command: "x" } }).ok).toBe(true);
    }
    expect(
      parse({ git: { command: "x" }, b: { command: "x" }, Git: { command: "x" } }),
    ).toMatchObject({
      ok: false,
      problems: [{ field: "mcpServers.Git", message: expect.stringContaining('"git"') as string }],
    });
    const text = '{"mcpServers": {"__proto__": {"command": "x"}}}';
    expect(parseMcpSettings(text, "f", {}).ok).toBe(false);
  });

  test.each([
    ['{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "is given a second time"],
    ['{"mcpServers": {"a": {"command": "x", "command": "y"}}}', "is given a second time"],
    ["", "is empty"],
    ['{"mcpServers": ', "lacks a value"],
    ["[]", "must hold an object"],
    ['{"mcpServers": []}', "object of servers"],
    ['{"servers": {}}', 'under "mcpServers"'],
    ['{"mcpservers": {}}', 'under "mcpServers"'],
    [`{"a": ${"[".repeat(100_000)}`, "nested deeper than 100 levels"],
    [`"${"x".repeat(1_000_001)}"`, "too large"],
  ])("in the form of the file is refused: %#", (text, expected) => {
    const parsed = parseMcpSettings(text, "mcp.json", {});
    expect(parsed.ok ? "" : parsed.problems[0]?.message).toContain(expected);
  });

  test("in a part for another host is none of ours", () => {
    const parsed = parseMcpSettings('{"$schema": "x", "inputs": []}', "mcp.json", {});
    expect(parsed).toMatchObject({ ok: true, warnings: [{ field: "inputs" }] });
  });
});

test("any file is read, or refused with a position in it", () => {
  const texts = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .dictionary(fc.string(), fc.jsonValue())
      .map((one) => JSON.stringify({ mcpServers: { one } })),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const parsed = parseMcpSettings(text, "mcp.json", {});
      if (parsed.ok) return;
      const lines = text.split(/\r\n|\n|\r/);
      expect(parsed.problems.length).toBeGreaterThan(0);
      for (const { line = 0, column = 0 } of parsed.problems) {
        expect(column).toBeGreaterThan(0);
        expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 1);
      }
    }),
  );
});
