// The single findings of the doctor. Each stands for itself: one that fails does not keep the next from being
// looked at, and none of them changes anything.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import {
  describeProblem,
  listMemories,
  loadAgentCatalog,
  loadSkills,
  modelFromEnvironment,
  type Problem,
} from "@soong/agent";
import { loadDeclarativeTools, loadHooks } from "@soong/tools";
import { loadConfig, userHome, type LoadedConfig } from "../../config/index.ts";
import { describeFailure } from "../../output/index.ts";
import {
  agentsFolder,
  declarativeOptions,
  hooksFile,
  listKeyNames,
  memoryFolder,
  openHomeStore,
  openRuntime,
  SetupError,
  skillsFolder,
  toolsFolder,
} from "../../runtime/index.ts";
import { resolveHome, type CommandContext } from "../context.ts";
import type { Finding } from "./finding.ts";
import { hasStore } from "../stored.ts";
import { checkRipgrep } from "./check-ripgrep.ts";
import { checkServers } from "./check-servers.ts";

const OLDEST_NODE = [20, 19] as const;

export async function* runAllChecks(context: CommandContext): AsyncGenerator<Finding> {
  yield nodeFinding(process.versions.node);
  yield checkPlatform(process.platform);
  const { env, cwd } = context;
  const home = await resolveHome(context);
  yield homeFinding(home);
  let config: LoadedConfig | undefined;
  try {
    config = await loadConfig({ home });
    yield configFinding(config);
  } catch (error) {
    yield failCheck(
      "config",
      error,
      "Fix what is named; a config is not needed, so the file may also be removed.",
    );
  }
  yield await storeFinding(home);
  yield await checkRipgrep();
  yield await toolsFinding(home, config);
  yield await hooksFinding(home, cwd);
  if (config !== undefined) yield await rulesFinding(context, config);
  if (config !== undefined) yield* checkServers(context, config);
  yield await agentsFinding(home);
  yield await skillsFinding(home);
  yield await memoryFinding(home);
  if (config !== undefined) {
    yield keysFinding(listKeyNames(config.values), env);
    yield modelFinding(config, env);
  }
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  return isOld
    ? {
        state: "fail",
        about: "node",
        says: `Node ${version} is too old`,
        next: `Install Node ${OLDEST_NODE.join(".")} or newer.`,
      }
    : { state: "ok", about: "node", says: `Node ${version}` };
}

export function checkPlatform(platform: string): Finding {
  const about = "platform";
  switch (platform) {
    case "linux":
      return { state: "ok", about, says: "Linux" };
    case "darwin":
      return {
        state: "ok",
        about,
        says: "macOS; files are opened by name and processes found by ps: see docs/platforms.md",
      };
    case "win32":
      return {
        state: "fail",
        about,
        says: "Windows is not supported yet: paths, locks, process groups and sockets follow POSIX",
        next: "Use WSL 2, where Soong is on Linux. docs/platforms.md says what works where.",
      };
    default:
      return { state: "warn", about, says: `${platform} is not tested; it is treated like macOS` };
  }
}

function homeFinding(home: string): Finding {
  const about = "home";
  try {
    if (!existsSync(home)) {
      const parent = nearestFolder(home);
      accessSync(parent, constants.W_OK | constants.X_OK);
      return { state: "ok", about, says: `${home} is not there yet and can be made` };
    }
    if (!statSync(home).isDirectory()) {
      const next = "Move the file away, or set SOONG_AGENT_HOME to a directory.";
      return { state: "fail", about, says: `${home} is not a directory`, next };
    }
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const others = statSync(home).mode & 0o022;
    if (others === 0) return { state: "ok", about, says: home };
    return {
      state: "warn",
      about,
      says: `${home} can be written by others`,
      next: `chmod 700 ${home}`,
    };
  } catch (error) {
    return failCheck(
      about,
      error,
      "Give this user the right to read and write it, or set SOONG_AGENT_HOME.",
    );
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

function configFinding({ file, warnings }: LoadedConfig): Finding {
  const about = "config";
  if (warnings.length > 0) {
    return { state: "warn", about, says: warnings.map(describeProblem).join("\n") };
  }
  return {
    state: "ok",
    about,
    says: file ?? "none, which is fine; `soong init` writes one with comments",
  };
}

/** The newest session is looked through; `soong verify` does it for all of them. */
async function storeFinding(home: string): Promise<Finding> {
  const about = "store";
  try {
    if (!hasStore(home)) return { state: "ok", about, says: "nothing is kept yet" };
    const store = await openHomeStore(home, { readOnly: true });
    try {
      const [newest] = await store.sessions({ limit: 1 });
      if (newest === undefined) return { state: "ok", about, says: "opens; no session in it" };
      const verified = await store.verify(newest.session_id);
      return verified.ok
        ? { state: "ok", about, says: `opens; ${newest.session_id} is as it was recorded` }
        : {
            state: "fail",
            about,
            says: `${newest.session_id}: ${verified.problem.message}`,
            next: "It was changed. `soong verify` checks every session; `soong sessions rm ID` removes one.",
          };
    } finally {
      await store.close();
    }
  } catch (error) {
    return failCheck(
      about,
      error,
      "Put a copy of the store back, or move its folder away to begin anew.",
    );
  }
}

async function toolsFinding(home: string, config: LoadedConfig | undefined): Promise<Finding> {
  const about = "tools";
  const options = declarativeOptions(config?.values);
  const loaded = await loadDeclarativeTools(toolsFolder(home), options);
  if (!loaded.ok) {
    const says = loaded.problems.map(describeProblem).join("\n");
    return { state: "fail", about, says, next: "`soong tools check FILE` looks at one." };
  }
  const { tools, excluded = [] } = loaded.source;
  const says = `${tools.length} declared`;
  if (excluded.length === 0) return { state: "ok", about, says };
  const missing = excluded.map(({ tool_name, detail }) => `${tool_name}: ${detail}`);
  return { state: "warn", about, says: [`${says}; not ready:`, ...missing].join("\n") };
}

async function hooksFinding(home: string, project: string): Promise<Finding> {
  const about = "hooks";
  const loaded = await loadHooks(hooksFile(home), {
    project,
    userHome: userHome(process.env),
  });
  if (loaded.ok) return { state: "ok", about, says: `${loaded.hooks.length} in hooks.json` };
  const says = loaded.problems.map(describeProblem).join("\n");
  return { state: "fail", about, says, next: "Fix hooks.json, or move it away." };
}

async function rulesFinding(
  { env, cwd }: Pick<CommandContext, "env" | "cwd">,
  config: LoadedConfig,
): Promise<Finding> {
  const about = "rules";
  try {
    const runtime = await openRuntime({
      env,
      cwd,
      config,
      servers: "none",
      agents: true,
      note() {},
    });
    const { unmatched, policy } = runtime;
    await runtime.close();
    const says = [
      `${policy.rules?.length ?? 0} in the config`,
      ...unmatched.map(({ where, message }) => `${where}: ${message}`),
    ].join("\n");
    return unmatched.some(({ kind }) => kind === "never")
      ? { state: "warn", about, says, next: "Correct what is named." }
      : { state: "ok", about, says };
  } catch (error) {
    if (error instanceof SetupError) {
      // Named by the findings of tools, hooks and servers.
      const says = "not checked: tools, hooks or servers cannot be read";
      return { state: "warn", about, says, next: "Fix what fails, and run `soong doctor` again." };
    }
    return failCheck(about, error, "Fix what is named first.");
  }
}

async function agentsFinding(home: string): Promise<Finding> {
  const { definitions, problems } = await loadAgentCatalog({ folder: agentsFolder(home) });
  const own = [...definitions.values()].filter(({ origin }) => origin.kind === "file").length;
  return documentsFinding("agents", `${own} in agents/`, problems);
}

async function skillsFinding(home: string): Promise<Finding> {
  const { skills, problems } = await loadSkills(skillsFolder(home));
  return documentsFinding("skills", `${skills.length} in skills/`, problems);
}

async function memoryFinding(home: string): Promise<Finding> {
  const { entries, problems } = await listMemories(memoryFolder(home));
  return documentsFinding("memory", `${entries.length} remembered`, problems);
}

/** What cannot be read costs itself alone; someone thinks that it counts. */
function documentsFinding(about: string, says: string, problems: readonly Problem[]): Finding {
  if (problems.length === 0) return { state: "ok", about, says };
  const lines = [`${says}; these cannot be used:`, ...problems.map(describeProblem)];
  return { state: "warn", about, says: lines.join("\n"), next: "Fix them, or move them away." };
}

/** Whether they are there; never what they are. */
function keysFinding(names: readonly string[], env: CommandContext["env"]): Finding {
  const about = "model keys";
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== "";
  const says = names.map((name) => `${name}: ${isSet(name) ? "yes" : "no"}`).join("\n");
  return { state: "ok", about, says };
}

/** Which model a run would ask; no one is asked here. */
function modelFinding({ values }: LoadedConfig, env: CommandContext["env"]): Finding {
  const about = "model";
  const found = values.model.default ?? modelFromEnvironment(env);
  if (found !== undefined) {
    const whose = values.model.default === undefined ? "the environment" : "the config";
    const what = found.endsWith(":*") ? "the first model that the server lists" : found;
    return { state: "ok", about, says: `${what}, by ${whose}` };
  }
  return {
    state: "warn",
    about,
    says: "none: no key and no server is in the environment, and the config names none",
    next: "Export ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENAI_BASE_URL or OLLAMA_HOST, or set model.default; scripted models and `soong demo` need none.",
  };
}

function failCheck(about: string, error: unknown, next: string): Finding {
  return { state: "fail", about, says: describeFailure(error).message, next };
}
