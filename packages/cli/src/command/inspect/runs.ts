// Runs that are started from the page, as `soong run` and `soong resume` start them: the same config, policy, hooks and
// secrets, and no rule of their own. Each has a runtime of its own, in this process, and is ended with the inspector.

import { setMaxListeners } from "node:events";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { loadAgentCatalog, modelFromEnvironment, readMessage, type LoopRun } from "@soong/agent";
import { createApprovalBroker } from "@soong/control";
import { randomIds, type Mode } from "@soong/core";
import { MODES } from "@soong/core/internal";
import {
  InspectorError,
  type RunAsked,
  type RunBegun,
  type RunChoices,
  type RunsPort,
} from "@soong/inspector";
import { describeProblem } from "@soong/platform";
import { nearestName, oneLine } from "@soong/schema";
import type { Store } from "@soong/store";
import { openLoop, type OpenedLoop } from "../../conversation/open-loop.ts";
import { visibleLine } from "../../output/index.ts";
import { homePaths } from "../../runtime/home.ts";
import { chooseMode, loadMainAgent, openModels } from "../../runtime/models.ts";
import { openRuntime, type Runtime, type StoredSession } from "../../runtime/open-runtime.ts";
import { describeServerFailure } from "../context.ts";
import { titleOf } from "../run/read-prompt.ts";
import { withInspectorErrors, type InspectedHome } from "./inspected-home.ts";

export interface PageRuns extends RunsPort {
  /** Ends the runs under way, as Ctrl-C does `soong run`, and waits for their record. */
  close(): Promise<void>;
}

/** So many runs are under way: each has a runtime with its servers, and may wait for an answer for ever. */
export const MOST_RUNS = 8;
const MOST_SESSIONS = 500;
const MOST_PROJECTS = 50;

interface ActiveRun {
  run: LoopRun | undefined;
  /** Also before it is there: then it ends as soon as it begins. */
  stop(reason: string): void;
  /** Resolves once `run` is there. */
  readonly begun: Promise<void>;
  /** Of the one under way: what was sent too late for it is another one. */
  run_id: string;
  readonly ended: Promise<void>;
}

export function openRunsPort(
  { env, cwd, home, config, note }: InspectedHome,
  store: Store,
  /** Resolves once questions of that session are put to the page, or no one looks at it. */
  attended: (session_id: string) => Promise<void>,
): PageRuns {
  const ids = randomIds();
  /** By session. */
  const active = new Map<string, ActiveRun>();
  /** Sessions that are being opened for a run: who continues one of them meanwhile waits for it. */
  const opening = new Map<string, Promise<unknown>>();
  const closing = new AbortController();
  setMaxListeners(2 * MOST_RUNS, closing.signal);
  let open = 0;

  return {
    choices: () => withInspectorErrors(listChoices),
    start: (asked) => withInspectorErrors(() => start(asked)),
    stop(session_id, run_id) {
      const one = active.get(session_id);
      if (one?.run_id !== run_id) return false;
      one.stop("aborted from the inspector");
      return true;
    },
    async close() {
      closing.abort("the inspector was ended");
      await Promise.allSettled([...active.values()].map(({ ended }) => ended));
    },
  };

  async function listChoices(): Promise<RunChoices> {
    const { values, warnings } = await config();
    const folder = homePaths(home).agents;
    const catalog = await loadAgentCatalog({
      folder,
      profiles: Object.keys(values.models.profiles),
    });
    const default_model = values.model.default ?? modelFromEnvironment(env);
    const models = [
      default_model,
      ...Object.keys(values.models.profiles),
      ...values.models.fallback,
    ];
    return {
      projects: (await listProjects()).slice(0, MOST_PROJECTS),
      models: [...new Set(models.filter((model) => model !== undefined))],
      ...(default_model === undefined ? {} : { default_model }),
      modes: MODES,
      agents: catalog
        .startableAs("main")
        .map(({ id, description }) => ({ agent_id: id, description })),
      problems: [...warnings, ...catalog.problems].map(describeProblem),
    };
  }

  /** Where the inspector was started, then those used last. */
  async function listProjects(): Promise<string[]> {
    const sessions = await store.sessions({ limit: MOST_SESSIONS });
    return [...new Set([cwd, ...sessions.flatMap(({ project }) => project ?? [])])];
  }

  async function start(asked: RunAsked): Promise<RunBegun> {
    const { session_id } = asked;
    if (session_id === undefined) return begin(asked);
    for (let one = opening.get(session_id); one !== undefined; one = opening.get(session_id)) {
      await one.catch(() => {});
    }
    const here = active.get(session_id);
    if (here !== undefined) return join(session_id, here, asked);
    const begun = begin(asked);
    opening.set(session_id, begun);
    return begun.finally(() => opening.delete(session_id));
  }

  async function begin(asked: RunAsked): Promise<RunBegun> {
    refuseWhenClosing();
    if (open >= MOST_RUNS) {
      const message = `${MOST_RUNS} runs are under way here; wait for one of them, or stop one first.`;
      throw new InspectorError("failed", message);
    }
    open += 1;
    let runtime: Runtime | undefined;
    try {
      const project = await findProject(asked);
      const loaded = await config();
      const definition =
        asked.agent === undefined ? undefined : await loadMainAgent(loaded, asked.agent);
      const mode = chooseMode(readMode(asked.mode), definition, note);
      const models = await openModels(loaded.values, env, asked.model ?? definition?.model);
      runtime = await openRuntime({
        env,
        cwd: project,
        config: loaded,
        flags: { mode },
        agents: true,
        hooks: models.flatMap((one) => one.hooks ?? []),
        broker: createApprovalBroker(),
        note,
        onServerFailed: (failed) => note(describeServerFailure(failed)),
      });
      const { prompt } = asked;
      const held = await openSession(runtime, asked);
      const run_id = ids.next("run");
      const loop = await openLoop({
        held,
        runtime,
        config: loaded,
        models,
        mode,
        definition,
        run_id,
      });
      refuseWhenClosing();
      const opened = runtime;
      let onBegun = (): void => {};
      const begun = new Promise<void>((resolve) => {
        onBegun = resolve;
      });
      const stopping = new AbortController();
      const one: ActiveRun = {
        run: undefined,
        stop: (reason) => stopping.abort(reason),
        begun,
        run_id,
        ended: Promise.resolve().then(() =>
          carryOut(one, stopping.signal, onBegun, loop, held, opened, prompt),
        ),
      };
      active.set(held.session.session_id, one);
      return { session_id: held.session.session_id, run_id };
    } catch (error) {
      open -= 1;
      await runtime?.close();
      throw error;
    }
  }

  function refuseWhenClosing(): void {
    if (closing.signal.aborted) throw new InspectorError("gone", "The inspector is being ended.");
  }

  /** A run of this inspector reads it with its next request; one that takes no more is waited for. */
  async function join(session_id: string, one: ActiveRun, asked: RunAsked): Promise<RunBegun> {
    if (asked.instead_of !== undefined) {
      const message = "A run of this session is under way; stop it before you edit a prompt.";
      throw new InspectorError("failed", message);
    }
    await Promise.race([one.begun, one.ended]);
    const { run_id } = one;
    if (one.run?.queue(asked.prompt) !== undefined) return { session_id, run_id, is_queued: true };
    await one.ended;
    return start(asked);
  }

  /** A directory that the user has worked in with Soong: the page names no other. */
  async function findProject({ session_id, project }: RunAsked): Promise<string> {
    let found = cwd;
    if (session_id !== undefined) {
      const record = await (await store.readSession(session_id)).record();
      found = record.project ?? cwd;
    } else if (project !== undefined) {
      const known = await listProjects();
      found = resolve(cwd, project);
      if (!known.includes(found)) {
        const message = `${visibleLine(found)} is not a project of a stored session; start \`soong run\` or \`soong inspect\` there once.`;
        throw new InspectorError("bad_request", message);
      }
    }
    if (statSync(found, { throwIfNoEntry: false })?.isDirectory() === true) return found;
    const message = `The project directory ${visibleLine(found)} is not there; it was removed or moved.`;
    throw new InspectorError("failed", message);
  }

  async function openSession(runtime: Runtime, asked: RunAsked): Promise<StoredSession> {
    const { session_id, instead_of, prompt } = asked;
    const title = titleOf(oneLine(prompt), prompt);
    if (session_id === undefined) return runtime.openSession({ title });
    if (instead_of === undefined) return runtime.openSession({ resume: session_id });
    const reader = await store.readSession(session_id);
    const [main] = await reader.agents();
    const node = await reader.node(instead_of);
    const isPrompt = node !== undefined && readMessage(node)?.role === "user";
    if (!isPrompt || node.agent_id !== main?.agent_id) {
      throw new InspectorError("bad_request", "Only a prompt of the main conversation is edited.");
    }
    // Nothing was said before it: as with `/rewind`, that is a new session.
    if (node.parent_id === undefined) return runtime.openSession({ title });
    const held = await runtime.openSession({ resume: session_id });
    await held.kept.rewind(held.session.recorder, node.parent_id);
    await held.session.recorder.flush();
    return held;
  }

  /** To its end, and to that of what was sent too late for it. Never rejects. */
  async function carryOut(
    one: ActiveRun,
    stopping: AbortSignal,
    onBegun: () => void,
    { conversation }: OpenedLoop,
    held: StoredSession,
    runtime: Runtime,
    prompt: string,
  ): Promise<void> {
    const { session_id } = held.session;
    let stopped: string | undefined;
    const stop = (reason: string): void => {
      stopped ??= reason;
      void one.run?.abort(reason);
    };
    const stopAll = (): void => stop(String(closing.signal.reason));
    const stopListening = held.onAbort(stop);
    closing.signal.addEventListener("abort", stopAll);
    stopping.addEventListener("abort", () => stop(String(stopping.reason)), { once: true });
    try {
      await attended(session_id);
      for (let next: string | undefined = prompt; next !== undefined;) {
        one.run = conversation.send(next);
        void one.run.run_id.then(
          (run_id) => {
            one.run_id = run_id;
          },
          () => {},
        );
        onBegun();
        if (closing.signal.aborted) stopAll();
        else if (stopped !== undefined) stop(stopped);
        const { unheard = [] }: { unheard?: readonly string[] } = await one.run.end;
        next = unheard.length === 0 || stopped !== undefined ? undefined : unheard.join("\n\n");
      }
      if (runtime.projectMissed()) {
        note(`The project directory ${visibleLine(runtime.roots.project)} was removed or moved.`);
      }
    } catch (error) {
      note(`A run from the page failed: ${String(error)}`);
    } finally {
      stopListening();
      closing.signal.removeEventListener("abort", stopAll);
      await runtime.close().catch((error: unknown) => note(String(error)));
      active.delete(session_id);
      open -= 1;
    }
  }
}

function readMode(given: string | undefined): Mode | undefined {
  const mode = MODES.find((one) => one === given);
  if (given === undefined || mode !== undefined) return mode;
  const near = nearestName(given, MODES);
  const next = near === undefined ? `Modes: ${MODES.join(", ")}.` : `Did you mean ${near}?`;
  throw new InspectorError("bad_request", `There is no mode ${visibleLine(given)}. ${next}`);
}
