// A runtime: kernel, tools, hooks, policy and store, put together from the config of a home for one project.
// Commands, a run and a conversation all stand on this; nothing else assembles them.

import {
  checkPatterns,
  createKernel,
  createRedactor,
  messageOf,
  type AnyHook,
  type AskElicitation,
  type AskPermission,
  type Kernel,
  type KnownSecret,
  type Mode,
  type PatternWarning,
  type PermissionAnswer,
  type PermissionRequest,
  type PolicyInput,
  type Roots,
  type Session,
  type SessionOptions,
  visibleLine,
} from "@soong/core";
import { statSync } from "node:fs";
import type { McpServersOptions } from "@soong/mcp";
import type { NewSession, OpenSession, Store } from "@soong/store";
import { defaultLockDirectory, type Sandbox } from "@soong/platform";
import { clearAbandonedWrites, findPath, resolveRulePath } from "@soong/tools";
import { addRule, buildPolicy, pickKernelConfig, type LoadedConfig } from "../config/index.ts";
import {
  createApprovalBroker,
  obeyCommand,
  storeQuestions,
  serveControl,
  watchSession,
  type AbortListener,
  type ApprovalBroker,
} from "@soong/control";
import { entrySandboxes } from "./entry-sandbox.ts";
import { openHomeStore } from "./home.ts";
import { keepRetention } from "./keep-retention.ts";
import type { OwnPool, RuntimeAgents } from "./open-agents.ts";
import { lazySandbox } from "./lazy-sandbox.ts";
import { openOnce } from "./open-once.ts";
import { namesCollector } from "./names-collector.ts";
import { collectSecrets } from "./secrets.ts";
import { hookPlaces, patternDisk, resolvePlaces } from "./places.ts";
import {
  runtimeServers,
  type FailedServer,
  type OpenedServers,
  type ServerChoice,
} from "./servers.ts";
import type { RuntimeTelemetry } from "./send-telemetry.ts";
import { loadUserHooks, loadUserTools } from "./user-tools.ts";

interface ResumedSession {
  readonly resume: string;
  /** The user continues it: one of another project is named. */
  readonly isConversation?: boolean;
}

export interface RuntimeOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project. */
  readonly cwd: string;
  readonly config: LoadedConfig;
  readonly flags?: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
    readonly mode?: Mode;
    readonly isSandboxed?: boolean;
  };
  /** The user to ask, beside those who come in through the socket. Without one, what requires approval is denied. */
  readonly ask?: AskPermission;
  readonly elicit?: AskElicitation;
  /** Where questions are put. Default: one that only `ask`, `elicit` and the socket know. */
  readonly broker?: ApprovalBroker;
  /** It makes one call: no one can join it to answer. */
  readonly isBrief?: boolean;
  /** Questions wait in the store for an answer from any process, also while no one is here. */
  readonly waitForAnyone?: boolean;
  /** Which MCP servers it may have; none of them is connected before it is `ready`. Default: all. */
  readonly servers?: ServerChoice;
  /** Whether agents, tasks, skills and memory are part of it: for commands that let a model work, or show what it has. */
  readonly agents?: boolean;
  /** This process is a worker of that pool. */
  readonly workerPool?: OwnPool;
  /** Beside those of hooks.json: a scripted model has some. */
  readonly hooks?: readonly AnyHook[];
  /** Beside those of the home: the token of the server this runtime is part of. */
  readonly secrets?: readonly KnownSecret[];
  /** The host behind it, for what servers request of one. */
  readonly host?: McpServersOptions["host"];
  /** Called with the servers that are waited for. */
  onWaiting?(server_ids: readonly string[]): void;
  /** A server that cannot be had, once for each. */
  onServerFailed?(failed: FailedServer): void;
  /** Whether it is silent about a machine without a sandbox: for a demonstration. */
  readonly mayLackSandbox?: boolean;
  /** For what a user should know and nothing fails for. Default: stderr. */
  note?(text: string): void;
}

export interface Runtime extends Pick<OpenedServers, "mcp" | "ready"> {
  readonly kernel: Kernel;
  readonly roots: Roots;
  readonly policy: PolicyInput;
  /** Of its sessions. */
  readonly hooks: readonly AnyHook[];
  /** Rules, flags and hooks that match nothing, never or not now (PERM-17). */
  readonly unmatched: readonly PatternWarning[];
  /** Whether a call could not be carried out because the project directory was gone. */
  readonly projectMissed: () => boolean;
  readonly agents: RuntimeAgents | undefined;
  /** Where commands run; what there is of it is tried when a command is judged. */
  readonly sandbox: Sandbox;
  /** Opened when first asked for: looking needs none. */
  store(): Promise<Store>;
  /** A session that is stored: a new one, or one that is there, by its id. */
  openSession(which?: OpenedSession | ResumedSession): Promise<StoredSession>;
  /** The session of this id that is open here. */
  heldSession(session_id: string): Session | undefined;
  /** A session of which nothing is stored and that starts nothing: to look, not to act. */
  openEphemeralSession(): Promise<Session>;
  /** Lets go of everything that is open. May be called twice. */
  close(): Promise<void>;
}

/** A new one. */
type OpenedSession = NewSession & Pick<SessionOptions, "dispatchedBy">;

export interface StoredSession {
  readonly session: Session;
  readonly kept: OpenSession;
  /** For the driver of runs: called when a user at the socket ends them. */
  onAbort(listener: AbortListener): () => void;
  /** For the loop: the text of the model, for those who follow it through the socket. */
  readonly addText: (run_id: string, node_id: string, text: string) => void;
  /** Everything is on disk and others may open it. */
  close(): Promise<void>;
}

export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { env, config, flags = {}, ask, elicit } = options;
  const { values, home } = config;
  const places = await resolvePlaces(options.cwd, home, values.tools);
  const { roots } = places;
  await clearAbandonedWrites(defaultLockDirectory());
  const sandbox = lazySandbox();
  // With a /tmp of their own: what a command leaves there is not for the user's programs.
  const sandboxOfEntries = lazySandbox();
  const openSandbox = entrySandboxes(sandboxOfEntries, places, values.tools);
  const servers = await runtimeServers({
    env,
    config,
    roots,
    openSandbox,
    choice: options.servers ?? "all",
    canElicit: elicit !== undefined || options.broker !== undefined,
    host: options.host,
    onWaiting: (server_ids) => options.onWaiting?.(server_ids),
    onFailed: (failed) => options.onServerFailed?.(failed),
  });
  const { allow = [], deny = [], ...more } = flags;
  const policy = { ...buildPolicy(values, { allow, deny, ...more }), ...places.policy };
  const { tools, sources } = await loadUserTools(home, values, sandbox);
  const userHooks = await loadUserHooks(home, roots.project, values.hooks, openSandbox);
  const hooks: readonly AnyHook[] = [...userHooks, ...(options.hooks ?? [])];
  const store = openOnce(() => openHomeStore({ home, env, note }, { values }));
  const agents =
    options.agents === true
      ? await (
          await import("./open-agents.ts")
        ).openAgents({
          env,
          config,
          roots,
          store,
          hooks,
          hookPlaces: hookPlaces({ roots, policy }),
          workerPool: options.workerPool,
        })
      : undefined;
  const kernel = createKernel({
    tools,
    sources: [...sources, ...(agents?.sources ?? [])],
    config: pickKernelConfig(values),
  });
  let projectMissed = false;
  let isWarned = false;
  let isRefusalNoted = false;
  const secrets = [...(await collectSecrets(config, env)), ...(options.secrets ?? [])];
  const ofEverySession: SessionOptions = {
    policy,
    roots,
    secrets,
    resolvePath: resolveRulePath,
    findPath,
    isDirectory(path) {
      const isThere = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
      if (!isThere && path === roots.project) projectMissed = true;
      return isThere;
    },
  };
  const { broker = createApprovalBroker({ isBrief: options.isBrief ?? false }) } = options;
  if (ask !== undefined || elicit !== undefined) {
    // The caller answers as one among others.
    broker.addResponder({
      ask: async ({ request }, signal) => ask?.(request, { signal }),
      elicit: elicit && (async ({ request }, signal) => elicit(request, { signal })),
    });
  }
  const open = new Set<StoredSession>();
  const used = new Set<string>();
  let telemetry: Promise<RuntimeTelemetry> | undefined;
  const { mcp, ready, watch: recordServers } = await servers.open(kernel.registry, secrets);
  // The rules of definitions, too: when an agent is started, they are not looked at any more.
  const definitions = [...(agents?.catalog.definitions.values() ?? [])];
  const allRules = [...(policy.rules ?? []), ...definitions.flatMap(({ rules = [] }) => rules)];
  const unmatched = findUnmatched(allRules, userHooks);
  for (const warning of [
    ...servers.warnings,
    ...(agents?.problems ?? []),
    ...describeNever(unmatched),
  ]) {
    note(`warning: ${warning}`);
  }

  return {
    kernel,
    roots,
    policy,
    hooks,
    unmatched,
    projectMissed: () => projectMissed,
    agents,
    sandbox,
    mcp,
    ready,
    store,
    async openSession(which = {}) {
      const from = await store();
      const { dispatchedBy, ...about }: OpenedSession = "resume" in which ? {} : which;
      const kept =
        "resume" in which
          ? await from.openSession(which.resume)
          : await from.createSession({
              project: roots.project,
              ...about,
              // A title is often a prompt.
              title: about.title && createRedactor({ secrets }).text(about.title),
            });
      try {
        if ("resume" in which && which.isConversation === true) await warnOfOtherProject(kept);
        return await hold(kept, dispatchedBy);
      } catch (error) {
        await kept.close();
        throw error;
      }
    },
    heldSession: (session_id) =>
      [...open].find(({ session }) => session.session_id === session_id)?.session,
    openEphemeralSession: () =>
      kernel.openSession({
        ...ofEverySession,
        hooks: userHooks.filter(({ event }) => event !== "SessionStart" && event !== "SessionEnd"),
      }),
    async close() {
      await agents?.close();
      for (const session of open) await session.close();
      const sentTelemetry = telemetry?.then((opened) => opened.close());
      await mcp?.close();
      sandbox.close();
      sandboxOfEntries.close();
      const opened = await store.opened();
      if (opened !== undefined && used.size > 0) {
        const removed = await keepRetention({ store: opened, home, values, used: [...used] });
        if (removed !== undefined) note(removed);
        used.clear();
      }
      await opened?.close();
      await sentTelemetry;
    },
  };

  function findUnmatched(
    rules: PolicyInput["rules"],
    by: typeof userHooks,
  ): readonly PatternWarning[] {
    return checkPatterns({ ...policy, rules, roots }, by, {
      tools: [...kernel.registry.snapshot().tools.values()],
      servers: servers.configured,
      agents: agents !== undefined,
      hooksFile: "hooks.json",
      disk: patternDisk,
    });
  }

  /** It may be a session of another machine. */
  async function warnOfOtherProject({ reader }: OpenSession): Promise<void> {
    const { project = roots.project } = await reader.record();
    if (project === roots.project) return;
    note(
      `warning: this session was begun in ${visibleLine(project)}, and continues in ${visibleLine(roots.project)}.`,
    );
  }

  async function hold(
    kept: OpenSession,
    dispatchedBy: SessionOptions["dispatchedBy"],
  ): Promise<StoredSession> {
    const { session_id, journal, artifacts, lastSeq } = kept;
    const from = await store();
    const questions = storeQuestions({
      storage: from.questions(),
      cluster: from.cluster,
      waitForAnyone: options.waitForAnyone,
      session_id,
      broker,
      redact: (value) => createRedactor({ secrets }).value(value),
    });
    const opened = await kernel.openSession({
      ...ofEverySession,
      session_id,
      journal,
      artifacts,
      lastSeq,
      dispatchedBy,
      hooks,
      findRequestId: questions.findRequestId,
      ask: async (request, { signal, recorded }) => {
        const answer = await questions.ask(offer(request), {
          recorded: recorded && offer(recorded),
          signal: limitWait(signal),
        });
        return keepAlways(request, answer);
      },
      elicit: (request, { signal }) => questions.elicit(request, { signal: limitWait(signal) }),
    });
    const { project } = roots;
    const watched = watchSession(opened, { project, broker, secrets, questions });
    recordServers(opened);
    opened.watch({ types: new Set(["sandbox.missing"]) }, warnUnsandboxed);
    const stopTelemetry = await followTelemetry(opened);
    const stopCommands = from.cluster?.onCommand(session_id, (command) =>
      obeyCommand(watched.subject, command),
    );
    // Not waited for: what the session is for does not need it.
    const serving = serveControl(home, watched.subject).catch((error: unknown) => {
      note(`This session cannot be reached from another terminal: ${messageOf(error)}`);
      return undefined;
    });
    const held: StoredSession = {
      session: opened,
      kept,
      onAbort: (listener) => watched.onAbort(listener),
      addText: watched.addText,
      async close() {
        open.delete(held);
        try {
          await opened.close();
        } finally {
          stopTelemetry?.();
          stopCommands?.();
          await (await serving)?.close();
          // Of one that was lost, the questions are its next holder's.
          if (!kept.lost.aborted) await questions.close();
          await kept.close();
        }
      },
    };
    open.add(held);
    used.add(session_id);
    return held;
  }

  /** Loaded only where the user wants it. */
  async function followTelemetry(session: Session): Promise<(() => void) | undefined> {
    if (!namesCollector(env, values.telemetry.otlp_endpoint)) return undefined;
    telemetry ??= import("./send-telemetry.ts").then(({ openRuntimeTelemetry }) =>
      openRuntimeTelemetry(values, env, (text) => note(`warning: ${text}`)),
    );
    return (await telemetry).follow(session);
  }

  /** The kernel's own wait ends a little earlier: it says so, and this only clears the broker. */
  function limitWait(signal: AbortSignal): AbortSignal {
    const { ask_timeout_ms: ms } = values.permissions;
    return ms === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(ms + 100)]);
  }

  /** A worker keeps no rules: its home is not that of the user who answers. */
  function offer(request: PermissionRequest): PermissionRequest {
    return options.workerPool === undefined ? request : dropAlwaysRules(request);
  }

  /** A rule counts from the next session on; in this one the yes is for the session (PERM-18). */
  async function keepAlways(
    request: PermissionRequest,
    answer: PermissionAnswer,
  ): Promise<PermissionAnswer> {
    const { always, ...once } = answer;
    const chosen = request.scope_choices?.find(({ id }) => id === answer.scope) ?? request;
    const rule = always?.rule ?? chosen.always_rule;
    if (always === undefined || rule === undefined) return answer;
    if (options.workerPool !== undefined) {
      if (!isRefusalNoted) {
        note("The rule was not kept: a worker has only the rules of its own config.");
        isRefusalNoted = true;
      }
      return { ...once, decision: "allow_for_session" };
    }
    const limited = always.where === "project" ? { ...rule, project: roots.project } : rule;
    try {
      note(`The rule was added to ${await addRule(home, limited)}.`);
      const added = [{ ...limited, origin: { code: "the rule" } }];
      for (const warning of describeNever(findUnmatched(added, []))) note(`warning: ${warning}`);
      return { ...once, decision: "allow_for_session", always: { ...always, rule: limited } };
    } catch (error) {
      note(`The rule was not kept: ${messageOf(error)}`);
      return once;
    }
  }

  /** Once, with the first command that runs so. */
  function warnUnsandboxed(): void {
    const state = sandbox.state();
    if (isWarned || !("missing" in state) || options.mayLackSandbox === true) return;
    isWarned = true;
    note(
      `warning: Commands run without a sandbox: ${state.missing}. ${state.fix} sandbox.mode = "off" in config.toml silences this.`,
    );
  }

  function note(text: string): void {
    if (options.note === undefined) process.stderr.write(`${text}\n`);
    else options.note(text);
  }
}

function dropAlwaysRules({
  always_rule: _rule,
  scope_choices,
  ...request
}: PermissionRequest): PermissionRequest {
  if (scope_choices === undefined) return request;
  const choices = scope_choices.map(({ always_rule: _one, ...choice }) => choice);
  return { ...request, scope_choices: choices };
}

/** What is not there yet is no reason to speak up at every start: `doctor` and `explain` name it. */
function describeNever(warnings: readonly PatternWarning[]): string[] {
  return warnings.flatMap(({ kind, where, message }) =>
    kind === "never" ? [`${where}: ${message}`] : [],
  );
}
