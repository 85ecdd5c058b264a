// `soong doctor`: everything Soong needs, checked once: ok, warn or fail, each with what to do (CONF-2). One that
// fails does not keep the next from being looked at, and none of them changes anything.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  describeProblem,
  listMemories,
  loadAgentCatalog,
  loadSkills,
  modelFromEnvironment,
  type AgentCatalog,
} from "@soong/agent";
import { createKernel, messageOf } from "@soong/core";
import type { McpServerEntry, McpServerStatus } from "@soong/mcp";
import { loadDeclarativeTools, loadHooks, searchTool } from "@soong/tools";
import { openSandbox, type SandboxState } from "@soong/platform";
import type { StoreDescription, StoreOptions } from "@soong/store";
import {
  ConfigError,
  loadConfig,
  userHome,
  type LoadedConfig,
  type SoongConfig,
} from "../../config/index.ts";
import { describeFailure, EXIT, pad, visible } from "../../output/index.ts";
import { collectSecrets, listKeyNames } from "../../runtime/secrets.ts";
import { loadOwnCommands, type OwnCommands } from "../../conversation/own-commands.ts";
import { declarativeOptions } from "../../runtime/user-tools.ts";
import { loadUserServers, runtimeServers } from "../../runtime/servers.ts";
import { entrySandboxes } from "../../runtime/entry-sandbox.ts";
import { findPoolProblems } from "../../runtime/worker-pools.ts";
import { findStoreOptions, SetupError, homePaths, type StorePlace } from "../../runtime/home.ts";
import { namesCollector } from "../../runtime/names-collector.ts";
import { openRuntime } from "../../runtime/open-runtime.ts";
import { resolvePlaces } from "../../runtime/places.ts";
import { STORE_URL_NAME } from "../../runtime/store-url.ts";
import { resolveHome } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { describeDatabase, findStoreProblem } from "../store/store.ts";
import { openForReading } from "../stored.ts";

const OLDEST_NODE = [20, 19] as const;
const MOST_NAMED = 10;

interface Found {
  readonly state: "ok" | "warn" | "fail";
  readonly says: string;
  /** What to do about it. */
  readonly next?: string;
}

export const runChecks: Handler<"doctor"> = async (context) => {
  const { green, yellow, red, dim } = context.output.colours;
  let exitCode: number = EXIT.ok;
  for await (const [about, { state, says, next }] of checkAll(context)) {
    context.print({ state, about, says, next }, () => {
      const colour = { ok: green, warn: yellow, fail: red }[state];
      const [first = "", ...more] = visible(says).split("\n");
      const details = [...more, ...(next === undefined ? [] : visible(next).split("\n"))];
      return [
        `${colour(pad(state, 5))} ${pad(about, 12)} ${first}`,
        ...details.map((line) => dim(`                   ${line}`)),
      ];
    });
    if (state === "fail") exitCode = EXIT.failed;
  }
  return exitCode;
};

async function* checkAll(
  context: CommandContext,
): AsyncGenerator<readonly [about: string, found: Found]> {
  const { env, cwd } = context;
  let config: LoadedConfig | undefined;
  yield ["node", checkNode(process.versions.node)];
  yield ["platform", checkPlatform(process.platform)];
  const home = resolveHome(context);
  yield await check("home", async () => checkHome(home), {
    next: "Give this user the right to read and write it, or set SOONG_AGENT_HOME.",
  });
  yield await check(
    "config",
    async () => {
      config = await loadConfig({ home });
      const { file, warnings } = config;
      return warnings.length > 0
        ? warn(warnings.map(describeProblem))
        : ok(file ?? "none, which is fine; `soong init` writes one with comments");
    },
    { next: "Fix what is named; a config is not needed, so the file may also be removed." },
  );
  yield await check("store", () => checkStore({ home, env }), {
    next: "Put a copy of the store back, or move its folder away to begin anew.",
  });
  yield await check("ripgrep", checkRipgrep);
  const sandbox = trySandbox();
  yield ["sandbox", checkSandbox(sandbox, config?.values)];
  yield ["tools", await checkTools(home, config)];
  yield ["hooks", await checkHooks(home, cwd, sandbox)];
  const read = config;
  if (read !== undefined) {
    yield await check("rules", () => checkRules(context, read), {
      next: "Fix what is named first.",
    });
    yield* checkServers(context, read);
  }
  const profiles = Object.keys(read?.values.models.profiles ?? {});
  const agents = await loadAgentCatalog({ folder: homePaths(home).agents, profiles });
  const own = [...agents.definitions.values()].filter(({ origin }) => origin.kind === "file");
  yield ["agents", checkDocuments(`${own.length} in agents/`, agents)];
  const pools = read === undefined ? [] : [...findPoolProblems(read.values, agents).values()];
  if (pools.length > 0) yield ["pools", fail(pools.join("\n"))];
  const loaded = await loadSkills(homePaths(home).skills);
  yield ["skills", checkDocuments(`${loaded.skills.length} in skills/`, loaded)];
  const typed = await loadOwnCommands(homePaths(home).commands);
  if (typed.commands.length + typed.problems.length > 0) yield ["commands", checkCommands(typed)];
  const memory = await listMemories(homePaths(home).memory);
  yield ["memory", checkDocuments(`${memory.entries.length} remembered`, memory)];
  if (read === undefined) return;
  // Whether they are there; never what they are.
  const keys = listKeyNames(read.values).map((name) => `${name}: ${env[name] ? "yes" : "no"}`);
  yield ["model keys", ok(keys.join("\n"))];
  yield ["model", checkModel(read, env)];
  yield await check("telemetry", () => checkTelemetry(read, env));
}

/** What is thrown is a finding, too. */
async function check(
  about: string,
  work: () => Promise<Found>,
  { next }: Pick<Found, "next"> = {},
): Promise<readonly [string, Found]> {
  return [
    about,
    await work().catch((error: unknown) => fail(describeFailure(error).message, next)),
  ];
}

function ok(says: string): Found {
  return { state: "ok", says };
}

function warn(says: readonly string[], next?: string): Found {
  return { state: "warn", says: says.join("\n"), next };
}

function fail(says: string, next?: string): Found {
  return { state: "fail", says, next };
}

function checkNode(version: string): Found {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  return isOld
    ? fail(`Node ${version} is too old`, `Install Node ${OLDEST_NODE.join(".")} or newer.`)
    : ok(`Node ${version}`);
}

export function checkPlatform(platform: string): Found {
  switch (platform) {
    case "linux":
      return ok("Linux");
    case "darwin":
      return ok("macOS; files are opened by name and processes found by ps: see docs/platforms.md");
    case "win32":
      return fail(
        "Windows is not supported yet: paths, locks, process groups and sockets follow POSIX",
        "Use WSL 2, where Soong is on Linux. docs/platforms.md says what works where.",
      );
    default:
      return warn([`${platform} is not tested; it is treated like macOS`]);
  }
}

function checkHome(home: string): Found {
  if (!existsSync(home)) {
    accessSync(findNearestFolder(home), constants.W_OK | constants.X_OK);
    return ok(`${home} is not there yet and can be made`);
  }
  if (!statSync(home).isDirectory()) {
    const next = "Move the file away, or set SOONG_AGENT_HOME to a directory.";
    return fail(`${home} is not a directory`, next);
  }
  accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
  const isOpen = (statSync(home).mode & 0o022) !== 0;
  return isOpen ? warn([`${home} can be written by others`], `chmod 700 ${home}`) : ok(home);
}

function findNearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findNearestFolder(dirname(path));
}

async function checkStore(place: StorePlace): Promise<Found> {
  let options: StoreOptions;
  try {
    options = await findStoreOptions(place);
  } catch (error) {
    // Named by the finding of the config.
    if (error instanceof ConfigError) return warn(["not checked: the config cannot be read"]);
    return fail(describeFailure(error).message);
  }
  if (options.url === undefined) return checkNewestSession(place);
  const { describeStore, StoreError } = await import("@soong/store");
  try {
    const described = await describeStore(options);
    return await checkDatabase(place, options, described);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const isOfVariable = (place.env[STORE_URL_NAME] ?? "") !== "";
    const where = isOfVariable ? STORE_URL_NAME : "store.url of the config";
    return fail(error.message, `${where} names this database.`);
  }
}

/** A worker whose clock is further off does not start. */
const WORST_OFFSET = 1 / 3;

async function checkDatabase(
  place: StorePlace,
  { leaseMs = 60_000 }: Pick<StoreOptions, "leaseMs">,
  described: StoreDescription,
): Promise<Found> {
  if (described.kind === "sqlite") return checkNewestSession(place);
  const { latency_ms, clock_offset_ms: offset } = described;
  const clock = `its clock is ${Math.abs(offset).toFixed(0)} ms ${offset < 0 ? "behind" : "ahead"}`;
  const about = [describeDatabase(described), `answers in ${latency_ms.toFixed(1)} ms; ${clock}`];
  const problem = findStoreProblem(described);
  if (problem !== undefined) return fail([...about, problem].join("\n"));
  const newest = await checkNewestSession(place);
  const says = [...about, newest.says];
  if (newest.state !== "ok") return { ...newest, says: says.join("\n") };
  return Math.abs(offset) > leaseMs * WORST_OFFSET
    ? warn(says, "Set the clock of this machine or of the database; NTP keeps both right.")
    : ok(says.join("\n"));
}

/** The newest session is looked through; `soong verify --all` does it for all of them. */
async function checkNewestSession(place: StorePlace): Promise<Found> {
  const store = await openForReading(place);
  if (store === undefined) return ok("nothing is kept yet");
  try {
    const [newest] = await store.sessions({ limit: 1 });
    if (newest === undefined) return ok("opens; no session in it");
    const verified = await store.verify(newest.session_id);
    if (verified.ok) return ok(`opens; ${newest.session_id} is as it was recorded`);
    return fail(
      `${newest.session_id}: ${verified.problem.message}`,
      "It was changed. `soong verify --all` checks every session; `soong sessions rm ID` removes one.",
    );
  } finally {
    await store.close();
  }
}

/** Found out by searching: an empty folder, with the very tool that will be used. */
async function checkRipgrep(): Promise<Found> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-doctor-")));
  try {
    const run = await createKernel({ tools: [searchTool()] }).startRun({
      roots: { project: folder, write: [] },
    });
    const { data } = await run.call("code.search", { query: "anything" });
    const { engine } = (data ?? {}) as { readonly engine?: unknown };
    if (engine === "ripgrep") return ok("found");
    return warn(
      ["not found; searching takes a slower walk of our own"],
      "Install ripgrep, or let npm install optional packages (@vscode/ripgrep).",
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Found out by starting a process in it, as a command would be. */
function trySandbox(): SandboxState {
  const sandbox = openSandbox();
  try {
    return sandbox.state();
  } catch (error) {
    return { missing: messageOf(error).replace(/\.$/, ""), fix: "Run the doctor again." };
  } finally {
    sandbox.close();
  }
}

function checkSandbox(state: SandboxState, values: SoongConfig | undefined): Found {
  const { mode = "on" } = values?.sandbox ?? {};
  if (!("missing" in state)) {
    const says = `${state.backend} ${state.version} works`;
    return ok(mode === "off" ? `${says}; sandbox.mode is "off": commands run without it` : says);
  }
  const { missing, fix } = state;
  const needing = values === undefined ? [] : findNeedingSandbox(values);
  if (needing.length > 0) {
    return fail(`${missing}; commands do not run where it is required: ${needing.join(", ")}`, fix);
  }
  if (mode === "off") return ok(`${missing}; sandbox.mode is "off": none is used`);
  return warn([`${missing}: commands run without one`], fix);
}

/** The settings by which a command runs in the sandbox or not at all. */
function findNeedingSandbox({ sandbox, tools, permissions }: SoongConfig): string[] {
  const overrides = Object.entries(tools.overrides);
  return [
    ...(sandbox.mode === "required" ? ["sandbox.mode"] : []),
    ...overrides.flatMap(([pattern, override]) =>
      override.sandbox === "required" ? [`tools.overrides.${JSON.stringify(pattern)}`] : [],
    ),
    ...permissions.rules.flatMap((rule, index) =>
      rule.sandbox === "required" ? [`rules[${index}]`] : [],
    ),
  ];
}

async function checkTools(home: string, config: LoadedConfig | undefined): Promise<Found> {
  const loaded = await loadDeclarativeTools(
    homePaths(home).tools,
    declarativeOptions(config?.values),
  );
  if (!loaded.ok) {
    const says = loaded.problems.map(describeProblem).join("\n");
    return fail(says, "`soong tools check FILE` looks at one.");
  }
  const { tools, excluded = [] } = loaded.source;
  const says = `${tools.length} declared`;
  if (excluded.length === 0) return ok(says);
  const missing = excluded.map(({ tool_name, detail }) => `${tool_name}: ${detail}`);
  return warn([`${says}; not ready:`, ...missing]);
}

async function checkHooks(home: string, project: string, sandbox: SandboxState): Promise<Found> {
  const options = { project, userHome: userHome(process.env) };
  const loaded = await loadHooks(homePaths(home).hooks, options);
  if (loaded.ok) {
    const says = `${loaded.hooks.length} in hooks.json`;
    const failing = loaded.hooks.flatMap(({ id, isSandboxed }) => (isSandboxed ? [id] : []));
    if (!("missing" in sandbox) || failing.length === 0) return ok(says);
    const why = `these want a sandbox and fail, because ${sandbox.missing}`;
    return fail([`${says}; ${why}:`, ...failing].join("\n"), sandbox.fix);
  }
  const says = loaded.problems.map(describeProblem).join("\n");
  return fail(says, "Fix hooks.json, or move it away.");
}

async function checkRules({ env, cwd }: CommandContext, config: LoadedConfig): Promise<Found> {
  try {
    const options = { env, cwd, config, servers: "none", agents: true, note() {} } as const;
    const runtime = await openRuntime(options);
    const { unmatched, policy } = runtime;
    await runtime.close();
    const says = [
      `${policy.rules?.length ?? 0} in the config`,
      ...unmatched.map(({ where, message }) => `${where}: ${message}`),
    ];
    const isWrong = unmatched.some(({ kind }) => kind === "never");
    return isWrong ? warn(says, "Correct what is named.") : ok(says.join("\n"));
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    // Named by the findings of tools, hooks and servers.
    const says = "not checked: tools, hooks or servers cannot be read";
    return warn([says], "Fix what fails, and run `soong doctor` again.");
  }
}

/** What cannot be read costs itself alone; someone thinks that it counts. */
function checkCommands({ commands, problems }: OwnCommands): Found {
  const says = `${commands.length} in commands/`;
  if (problems.length === 0) return ok(says);
  return warn([`${says}; these cannot be used:`, ...problems], "Fix them, or move them away.");
}

function checkDocuments(
  says: string,
  { problems, warnings = [] }: Pick<AgentCatalog, "problems"> & Partial<AgentCatalog>,
): Found {
  // Of files for another program: nothing is wrong with them.
  const notes = warnings.map(describeProblem);
  if (problems.length === 0) return ok([says, ...notes].join("\n"));
  const lines = [`${says}; these cannot be used:`, ...problems.map(describeProblem), ...notes];
  return warn(lines, "Fix them, or move them away.");
}

/** mcp.json itself, and each server that it names, connected side by side within the time a run would wait (MCP-2). */
async function* checkServers(
  { cwd, env }: CommandContext,
  config: LoadedConfig,
): AsyncGenerator<readonly [string, Found]> {
  const { home, values } = config;
  let count = 0;
  yield await check("mcp.json", async () => {
    const { entries, warnings } = await loadUserServers(home, env, values.mcp);
    count = entries.length;
    const says = count === 0 ? "no MCP servers" : `${count} in ${homePaths(home).servers}`;
    const local = values.permissions.network.mode === "default" ? [] : findUndeclared(entries);
    const all = [...warnings, ...local];
    return all.length === 0 ? ok(says) : warn([says, ...all]);
  });
  if (count === 0) return;
  const sandbox = openSandbox();
  try {
    const { registry } = createKernel();
    const places = await resolvePlaces(cwd, home, values.tools);
    const servers = await runtimeServers({
      env,
      config,
      roots: places.roots,
      openSandbox: entrySandboxes(sandbox, places, values.tools),
      choice: "all",
      canElicit: false,
    });
    const { mcp, ready } = await servers.open(registry, await collectSecrets(config, env));
    try {
      await ready(new AbortController().signal);
      for (const status of mcp?.status() ?? []) {
        yield [`mcp ${status.server_id}`, checkServer(status, home)];
      }
    } finally {
      await mcp?.close();
    }
  } catch (error) {
    yield ["mcp servers", fail(describeFailure(error).message)];
  } finally {
    sandbox.close();
  }
}

/** Programs that the user's rules on the network do not reach unless something says they use it. */
function findUndeclared(entries: readonly McpServerEntry[]): string[] {
  return entries
    .filter(({ network, disabled }) => network === undefined && !disabled)
    .map(
      ({ server_id, place }) =>
        `${place.file}:${place.line}: ${server_id} is a local program, and permissions.network holds for those of its tools that declare it; write "network": true or false into its entry`,
    );
}

function checkServer(status: McpServerStatus, home: string): Found {
  const { server_id, state, tools, excluded, message = "", protocol_version = "" } = status;
  const log = homePaths(home).serverLog(server_id);
  if (state === "disabled") return ok("disabled in mcp.json");
  if (state === "connected") {
    const says = `${tools.length} tools, MCP ${protocol_version}`;
    if (excluded.length === 0) return ok(says);
    const out = excluded.map(({ tool_name, reason }) => `${tool_name}: ${reason}`);
    const more = out.length > MOST_NAMED ? [`and ${out.length - MOST_NAMED} more`] : [];
    return warn(
      [`${says}; not offered:`, ...out.slice(0, MOST_NAMED), ...more],
      `\`soong mcp list ${server_id}\` says why.`,
    );
  }
  if (state === "failed") {
    const isSetUp = excluded.some(({ reason }) => reason === "setup_required");
    return fail(
      message,
      isSetUp
        ? "Set it up as the message says; nothing else is wrong with it."
        : `Look at its entry in mcp.json and at its log, ${log}; "disabled": true goes without it.`,
    );
  }
  return warn(
    ["it has not answered yet; a run continues without its tools, and takes them when they come"],
    `Its log is ${log}. If it is always that slow, raise mcp.wait_ms in the config.`,
  );
}

/** Which model a run would ask; none is asked here. */
function checkModel({ values }: LoadedConfig, env: CommandContext["env"]): Found {
  const found = values.model.default ?? modelFromEnvironment(env);
  if (found === undefined) {
    return warn(
      ["none: no key and no server is in the environment, and the config names none"],
      "Export ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENAI_BASE_URL or OLLAMA_HOST, or set model.default; scripted models and `soong demo` need none.",
    );
  }
  const whose = values.model.default === undefined ? "the environment" : "the config";
  const what = found.endsWith(":*") ? "the first model that the server lists" : found;
  return ok(`${what}, by ${whose}`);
}

/** Where it would go; nothing is sent here. */
async function checkTelemetry(
  { values }: LoadedConfig,
  env: CommandContext["env"],
): Promise<Found> {
  if (!namesCollector(env, values.telemetry.otlp_endpoint)) return ok("off");
  const { describeTelemetry } = await import("../../runtime/send-telemetry.ts");
  const { says = "off", warnings = [] } = describeTelemetry(values, env) ?? {};
  return warnings.length === 0 ? ok(says) : warn([says, ...warnings]);
}
