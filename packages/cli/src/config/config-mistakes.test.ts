import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { Problem } from "@soong/platform";
import { ConfigError, parseConfig } from "./parse-config.ts";

function refusalOf(text: string): ConfigError {
  try {
    parseConfig(text, "config.toml");
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

function problemsOf(text: string): readonly Problem[] {
  return refusalOf(text).problems;
}

describe("an unknown key", () => {
  test.each([
    ["[tool]", "1:2: tool", 'is not a field of the config; did you mean "tools"?'],
    ["colour = 1", "1:1: colour", "is not a field of the config; it has model, models, "],
    ["[tools]\n disabeld = []", "2:2: tools.disabeld", 'did you mean "disabled"?'],
    ["[tools]\ndefault_timeout = 1", "2:1: tools.default_timeout", '"default_timeout_ms"?'],
    ["tools = { Disabled = [] }", "1:11: tools.Disabled", 'did you mean "disabled"?'],
    ["[tools]\nask_timeout_ms = 1", "2:1: tools.ask_timeout_ms", "it belongs in [permissions]"],
    [
      "[models.profiles.x]\nprovider='openai'\nmodel='m'\napi_key = 1",
      "4:1: models.profiles.x.api_key",
      'did you mean "api_key_env"?',
    ],
    ["[permissions.network]\nhost = []", "2:1: permissions.network.host", 'did you mean "hosts"?'],
    [
      "[[permissions.rules]]\ntol = '*'\ndecision = 'ask'",
      "2:1: permissions.rules[0].tol",
      'did you mean "tool"?',
    ],
    [
      "[[permissions.rules]]\ntool='*'\ndecision='ask'\norigin={}",
      "4:1: permissions.rules[0].origin",
      "is not a field of a rule",
    ],
    ["[store.retention]\nmax_age = 3", "2:1: store.retention.max_age", '"max_age_days"?'],
    ["[hooks.timeout]\n", "1:8: hooks.timeout", 'did you mean "timeout_ms"?'],
    ["[agents]\n__proto__ = 1", "2:1: agents.__proto__", "is not a field of [agents]"],
    ['"a\\u001b[2J" = 1', '1:1: ["a\\u001b[2J"]', "is not a field of the config"],
  ])("%j is refused with its place and the nearest valid one", (text, place, hint) => {
    verifies("CONF-2");
    const { message, problems } = refusalOf(text);
    expect(problems).toHaveLength(1);
    expect(message.startsWith(`config.toml:${place}: `)).toBe(true);
    expect(message).toContain(hint);
  });
});

describe("a bad value", () => {
  test.each([
    ["sandbox = 'of'", "1:11: sandbox", 'is "of"; did you mean "off"?'],
    ["sandbox = true", "1:11: sandbox", "is true; "],
    [
      "[sandbox]\nmode = 'strict'",
      "2:8: sandbox.mode",
      'is "strict"; "off" or "on" or "required" is expected',
    ],
    ["[sandbox]\nauto_allow = 'yes'", "2:14: sandbox.auto_allow", "is text; "],
    [
      "[tools.overrides.'code.*']\nsandbox = 'no'",
      '2:11: tools.overrides["code.*"].sandbox',
      'is "no"; ',
    ],
    [
      "[tools.overrides.'mcp.x.*']\nsandbox = 'on'",
      '2:11: tools.overrides["mcp.x.*"].sandbox',
      "by its entry in mcp.json",
    ],
    [
      "[[permissions.rules]]\nargv = ['rm']\ndecision = 'ask'\nsandbox = 'of'",
      "4:11: permissions.rules[0].sandbox",
      '"of"',
    ],
    [
      "[[permissions.rules]]\nargv = ['rm']\ndecision = 'deny'\nsandbox = 'on'",
      "4:11: permissions.rules[0].sandbox",
      "what is denied does not run",
    ],
    [
      "[[permissions.rules]]\nhost = 'a.org'\ndecision = 'allow'\nsandbox = 'on'",
      "4:11: permissions.rules[0].sandbox",
      "cannot depend on a host",
    ],
    [
      "[model.budget]\nmax_cost = 0",
      "2:12: model.budget.max_cost",
      "is 0; a number, above 0 to 1000000, at most six decimals, is expected",
    ],
    ["[model.budget]\nmax_cost = 'x'", "2:12: model.budget.max_cost", "is text; a number, above 0"],
    ["[model.budget]\ncurrency = 'usd'", "2:12: model.budget.currency", "three capital letters"],
    [
      "[models.profiles.x]\nprovider='openai'\nmodel='m'\nprices={input=-1,output=1}",
      "4:15: models.profiles.x.prices.input",
      "is -1; a number, 0 to 1000000, at most six decimals, is expected",
    ],
    [
      "[models.profiles.x]\nprovider='openai'\nmodel='m'\nprices={input=1e9,output=1}",
      "4:15: models.profiles.x.prices.input",
      "is 1000000000; a number, 0 to 1000000, at most six decimals, is expected",
    ],
    [
      "[models.profiles.x]\nprovider='openai'\nmodel='m'\nprices={input=nan,output=1}",
      "4:15: models.profiles.x.prices.input",
      "is NaN; a number, 0 to 1000000, at most six decimals, is expected",
    ],
    [
      "[models.profiles.x]\nprovider='openai'\nmodel='m'\nprices={input=0.1234567,output=1}",
      "4:15: models.profiles.x.prices.input",
      "is 0.1234567; a number, 0 to 1000000, at most six decimals, is expected",
    ],
    [
      "[models.profiles.x]\nprovider='openai'\nmodel='m'\nprices={input=1}",
      "4:8: models.profiles.x.prices",
      "has no output: without it no cost is known",
    ],
    [
      "[models.profiles.x]\nprovider='openai'\nmodel='m'\n[models.profiles.x.prices]\ncache_read=1\noutput=1",
      "4:20: models.profiles.x.prices",
      "has no input",
    ],
    ["model = 'anthropic:x'", "1:9: model", "is text; [model] is a table of default, "],
    [
      "[tools]\nmax_timeout_ms = '5'",
      "2:18: tools.max_timeout_ms",
      "is text; a whole number from 1 to 2147483647 is expected",
    ],
    [
      "[tools]\nmax_timeout_ms = 1.5",
      "2:18: tools.max_timeout_ms",
      "is 1.5; a whole number from 1 to 2147483647 is expected",
    ],
    [
      "[tools]\nmax_timeout_ms = 0",
      "2:18: tools.max_timeout_ms",
      "is 0; a whole number from 1 to 2147483647 is expected",
    ],
    [
      "[tools]\nmax_timeout_ms = 9_999_999_999",
      "2:18: tools.max_timeout_ms",
      "is 9999999999; a whole number from 1 to 2147483647 is expected",
    ],
    [
      "[tools]\nmax_timeout_ms = nan",
      "2:18: tools.max_timeout_ms",
      "is NaN; a whole number from 1 to 2147483647 is expected",
    ],
    [
      "[tools]\nmax_timeout_ms = 1979-05-27",
      "2:18: tools.max_timeout_ms",
      "is a date; a whole number",
    ],
    [
      "[tools]\nmax_timeout_ms = 1000",
      "1:2: tools.default_timeout_ms",
      "is more than max_timeout_ms (1000)",
    ],
    [
      "[tools]\nmax_concurrency = true",
      "2:19: tools.max_concurrency",
      "is true; a whole number from 1 to 1000 is expected",
    ],
    ["[tools]\nearly_start = 'read-only'", "2:15: tools.early_start", 'did you mean "readonly"?'],
    [
      "[tools]\nearly_start = 1",
      "2:15: tools.early_start",
      'is 1; "none" or "readonly" or "all" is expected',
    ],
    ["[tools]\ndisabled = 'code.*'", "2:12: tools.disabled", "is text; a list of text is expected"],
    ["[tools]\ndisabled = [\n 'code.*',\n 'git']", "4:2: tools.disabled[1]", "has no dot"],
    [
      "[tools]\ndisabled = [3]",
      "2:13: tools.disabled[0]",
      "is 3; text is expected: put it in quotes",
    ],
    ["[tools]\ndisabled = ['']", "2:13: tools.disabled[0]", "is empty"],
    [
      "[tools]\nenv_allowlist = ['AWS_*']",
      "2:18: tools.env_allowlist[0]",
      "is not the name of an environment variable",
    ],
    [
      "[tools]\nallowed_write_roots = ['build']",
      "2:24: tools.allowed_write_roots[0]",
      "is not absolute",
    ],
    [
      "[tools]\nwrite_roots = []\nallowed_write_roots = []",
      "3:1: tools.allowed_write_roots",
      "is another name of write_roots; write one of them",
    ],
    ["[tools]\ntmp_dir = '/tmp'", "2:11: tools.tmp_dir", "is text; true or false is expected"],
    ["[tools]\nwrite_roots = ['build']", "2:16: tools.write_roots[0]", "is not absolute"],
    ["[tools]\nsensitive_paths = ['a/{b}']", "2:20: tools.sensitive_paths[0]", 'uses "{"'],
    ["[tools.overrides.code.run]\ntimeout_ms = 1", "1:18: tools.overrides.code", "needs quotes"],
    [
      "[tools.overrides.'code.x']\nreadonly = true",
      '2:12: tools.overrides["code.x"].readonly',
      "MCP servers only",
    ],
    [
      "[tools.overrides.'code.x']\ntimeout_ms = 700_000",
      '2:14: tools.overrides["code.x"].timeout_ms',
      "is more than tools.max_timeout_ms (600000)",
    ],
    [
      "[permissions]\ndestructive = 'allow'",
      "2:15: permissions.destructive",
      'is "allow"; "ask" or "deny" is expected',
    ],
    [
      "[permissions]\nnetwork = 'off'",
      "2:11: permissions.network",
      "is text; [permissions.network] is a table",
    ],
    ["[permissions.network]\nmode = 'of'", "2:8: permissions.network.mode", 'did you mean "off"?'],
    ["[permissions.network]\nmode = 'hosts'", "1:14: permissions.network.hosts", "is empty"],
    ["[permissions.network]\nhosts = ['http://x']", "2:10: permissions.network.hosts[0]", ""],
    [
      "[permissions.rules]\ntool = '*'",
      "1:14: permissions.rules",
      "each rule begins with [[permissions.rules]]",
    ],
    ["[permissions]\nrules = ['x']", "2:10: permissions.rules[0]", "is not a rule"],
    [
      "[[permissions.rules]]\ntool = '*'\ndecision = 'ask'\n[[permissions.rules]]\ntool = '*'\ndecision = 'alow'",
      "6:12: permissions.rules[1].decision",
      'did you mean "allow"?',
    ],
    ["[[permissions.rules]]\ntool = '*'", "1:3: permissions.rules[0].decision", "is missing"],
    ["[[permissions.rules]]\ndecision = 'ask'", "1:3: permissions.rules[0]", "has no condition"],
    [
      "[[permissions.rules]]\nargv = ['git', 'st*']\ndecision = 'ask'",
      "2:8: permissions.rules[0].argv",
      '"*" matches one whole item only',
    ],
    ["[model]\ndefault = 'antropic:x'", "2:11: model.default", 'did you mean "anthropic"?'],
    ["[model]\ndefault = 'openai:'", "2:11: model.default", "names nothing behind its colon"],
    ["[model]\ndefault = 'fast'", "2:11: model.default", "is not a profile"],
    [
      "[models]\nfallback = ['lokal']\n[models.profiles.local]\nprovider='openai'\nmodel='m'",
      "2:13: models.fallback[0]",
      'did you mean "local"?',
    ],
    [
      "[models.profiles.x]\nmodel = 'm'",
      "1:18: models.profiles.x.provider",
      'is missing; expected: "anthropic", ',
    ],
    [
      "[models.profiles.x]\nprovider='opena'\nmodel='m'",
      "2:10: models.profiles.x.provider",
      'did you mean "openai"?',
    ],
    [
      "[models.profiles.x]\nprovider='openai-compatible'\nmodel='m'",
      "1:18: models.profiles.x",
      "needs a base_url",
    ],
    [
      "[models.profiles.'a:b']\nprovider='openai'\nmodel='m'",
      '1:18: models.profiles["a:b"]',
      "is not a name for a profile",
    ],
    [
      "[models.profiles.x]\nprovider='openai'\nmodel='m'\nbase_url='ftp://x'",
      "4:10: models.profiles.x.base_url",
      "http:// or https://",
    ],
    [
      "[models.profiles.x]\nprovider='openai'\nmodel=\"a\\nb\"",
      "3:7: models.profiles.x.model",
      "line break",
    ],
    ["[memory]\nwrite_mode = 'extern'", "2:14: memory.write_mode", 'did you mean "external"?'],
    ["[store]\nurl = 3", "2:7: store.url", "is 3; text is expected: put it in quotes"],
    ["[store]\nurl = 'mysql://db/soong'", "2:7: store.url", "begins with postgres://"],
    ["[store]\nurl = 'postgres://db:port/soong'", "2:7: store.url", "is not a valid address"],
    ["[store]\npassword_env = 'PW'", "2:16: store.password_env", "which database"],
    ["[store]\nlease_ms = 10", "2:12: store.lease_ms", "1000 to"],
    [
      "[context]\nmax_tokens = 10",
      "2:14: context.max_tokens",
      "is 10; a whole number from 1000 to 100000000 is expected",
    ],
    ["task = 3", "1:8: task", "is 3; [task] is a table of lease_ms, max_attempts"],
  ])("%j is refused with its place and what would be right", (text, place, hint) => {
    verifies("CONF-2");
    const { message, problems } = refusalOf(text);
    expect(message.split("\n")[0]).toContain(`config.toml:${place}: `);
    expect(message).toContain(hint);
    expect(problems).toHaveLength(1);
  });

  test("does not hide the others: all come at once, in the order of the file", () => {
    verifies("CONF-2");
    const problems = problemsOf(
      "[permissions]\ndestructive = 'never'\n[[permissions.rules]]\ndecision = 1\n[tools]\nx = 1\nmax_concurrency = 0\n[hook]",
    );
    expect(problems.map(({ line, field }) => `${line} ${field}`)).toEqual([
      "2 permissions.destructive",
      "3 permissions.rules[0]",
      "4 permissions.rules[0].decision",
      "6 tools.x",
      "7 tools.max_concurrency",
      "8 hook",
    ]);
  });

  test("that is very long is not repeated", () => {
    expect(refusalOf(`sandbox = '${"x".repeat(5000)}'`).message.length).toBeLessThan(200);
  });
});

describe("what is no TOML", () => {
  test.each([
    ["[tools\n", "1:7", "is not valid TOML"],
    ["[model]\ndefault = anthropic:x\n", "2:11", "is not valid TOML"],
    ["a = 1\nb = [1, 2", "2:10", "is not valid TOML"],
    [
      "[tools]\ndisabled = []\n[hooks]\n [tools]\n",
      "4:3: tools",
      "is given a second time; the first is on line 1",
    ],
    [
      "[tools]\nmax_concurrency = 1\n\nmax_concurrency = 2\n",
      "4:1: tools.max_concurrency",
      "the first is on line 2",
    ],
    [
      "[store]\nretention = { max_bytes = 1, max_bytes = 2 }\n",
      "2:30: max_bytes",
      "is given a second time",
    ],
    [
      "[[permissions.rules]]\ntool = 'a.b'\ntool = 'c.d'\n",
      "3:1: permissions.rules[0].tool",
      "the first is on line 2",
    ],
    [`x = ${"[".repeat(500)}${"]".repeat(500)}`, "1:", "is not valid TOML"],
    ["[tools]\nmax_timeout_ms = 99999999999999999999\n", "2:18", "is not valid TOML"],
  ])("%j is refused with its place", (text, place, hint) => {
    verifies("CONF-2");
    const { message, problems } = refusalOf(text);
    expect(message).toContain(`config.toml:${place}`);
    expect(message).toContain(hint);
    expect(message.split("\n")).toHaveLength(1);
    expect(problems).toHaveLength(1);
  });

  test("keeps to itself what the line with the mistake holds", () => {
    verifies("CONF-2");
    const { message } = refusalOf('[models.profiles.x]\napi_key_env = "hunter2hunter2\n');
    expect(message).toContain("config.toml:2:");
    expect(message).not.toContain("hunter2");
  });

  test("is looked for behind a byte order mark, which counts as nothing", () => {
    expect(problemsOf("\uFEFFtool = 1")[0]).toMatchObject({ line: 1, column: 1, field: "tool" });
    expect(problemsOf("\uFEFFa b")[0]).toMatchObject({ line: 1, column: 3 });
  });
});

const KEY = `sk-ant-api03-${"aB3".repeat(20)}`;

describe("a key where only its name belongs", () => {
  test.each([
    [
      "as the name of its variable",
      `[models.profiles.x]\nprovider='openai'\nmodel='m'\napi_key_env = "${KEY}"`,
      "4:15: models.profiles.x.api_key_env",
    ],
    [
      "under a key of its own",
      `[models.profiles.x]\nprovider='openai'\nmodel='m'\napi_key = "${KEY}"`,
      "4:11: models.profiles.x.api_key",
    ],
    [
      "as the name of something else",
      `[agents.worker_pools.x]\nagent = "${KEY}"`,
      "2:9: agents.worker_pools.x.agent",
    ],
    [
      "in the address of a model",
      `[models.profiles.x]\nprovider='openai'\nmodel='m'\nbase_url = "https://me:pw@host/v1"`,
      "4:12: models.profiles.x.base_url",
    ],
    [
      "as random text without a known form",
      "[models.profiles.x]\nprovider='openai'\nmodel='m'\napi_key_env = 'd41d8cd98f00b204e9800998ecf8427e'",
      "4:15: models.profiles.x.api_key_env",
    ],
  ])("%s is refused and not repeated", (_where, text, place) => {
    verifies("CONF-2");
    const { message, problems } = refusalOf(text);
    expect(message).toContain(`config.toml:${place}: looks like an API key or a password`);
    expect(message).toContain("environment variable");
    expect(problems).toHaveLength(1);
    for (const secret of [KEY, "hunter2", "me:pw", "d41d8"]) expect(message).not.toContain(secret);
  });

  test.each([
    "postgres://soong:hunter2hunter2@db/soong",
    "postgresql://soong:hunter2@db/soong",
    "postgres://db/soong?user=soong&password=hunter2",
  ])("in the address of the database %s is refused with where it goes", (url) => {
    verifies("CONF-2");
    const { message, problems } = refusalOf(`[store]\nurl = "${url}"`);
    expect(message).toContain("config.toml:2:7: store.url: has a password");
    expect(message).toMatch(/password_env, or set SOONG_STORE_URL/);
    expect(problems).toHaveLength(1);
    expect(message).not.toContain("hunter2");
  });

  test("as a key or a choice is not repeated either", () => {
    const { message } = refusalOf(`"${KEY}" = 1\nsandbox = "${KEY}"\n[tools]\n"${KEY}" = 2`);
    expect(message).not.toContain(KEY);
    expect(message.split("\n")).toHaveLength(3);
  });

  test("as the name of a table is not repeated with what is wrong inside", () => {
    const { message } = refusalOf(`[models.profiles."${KEY}"]\nx = 1\n`);
    expect(message).toContain("is not a field of [models.profiles.");
    expect(message).not.toContain(KEY);
  });

  test.each(["MY_OWN_API_KEY_2_for_tests", "key2prod", "ANTHROPICAPIKEYOFTHETEAM2"])(
    "is not seen in %s, which only names one",
    (name) => {
      const text = `[models.profiles.x]\nprovider='openai'\nmodel='m'\napi_key_env = '${name}'`;
      expect(parseConfig(text, "config.toml").models.profiles.x?.api_key_env).toBe(name);
    },
  );
});
