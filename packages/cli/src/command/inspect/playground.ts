// The playground of the inspector: tools called as `soong call` does and explained as `soong explain` does, in the
// directory it was started in. Each call is a runtime of its own, so that what the config says now is what counts, in a
// session that is kept; its questions are put like those of any other.

import { setMaxListeners } from "node:events";
import type { JsonObject, JsonValue, Run } from "@soong/core";
import { describeScopes, toolFacts } from "@soong/core/internal";
import {
  InspectorError,
  type Called,
  type CallEnded,
  type PlaygroundPort,
  type PlaygroundTool,
} from "@soong/inspector";
import { createApprovalBroker } from "@soong/control";
import type { Store } from "@soong/store";
import { openRuntime, type StoredSession, type Runtime } from "../../runtime/open-runtime.ts";
import { chooseServers } from "../context.ts";
import { explainCall } from "../tools/explain.ts";
import { refuseUnknownTool } from "../tools/tool-input.ts";
import { PLAYGROUND_TITLE, readPlaygroundHistory } from "./playground-history.ts";
import { withInspectorErrors, type InspectedHome } from "./inspected-home.ts";

export interface Playground extends PlaygroundPort {
  /** Ends the calls under way, as Ctrl-C does `soong call`, and waits for their record. */
  close(): Promise<void>;
}

/** So many calls that have ended can still be looked up. */
const REMEMBERED = 100;
/** So many runtimes are open: each has its servers, its files and its socket, and may wait for an answer for ever. */
export const AT_ONCE = 8;

export function openPlayground(
  { env, cwd, config, note }: InspectedHome,
  store: Store,
  /** Resolves once questions of that session are put to the page, or no one looks at it. */
  attended: (session_id: string) => Promise<void>,
): Playground {
  const calls = new Map<string, { readonly ended: Promise<CallEnded>; isOver: boolean }>();
  const closing = new AbortController();
  // Each of those that are open waits for it in two places.
  setMaxListeners(2 * AT_ONCE, closing.signal);
  let open = 0;

  return {
    tools: () =>
      withInspectorErrors(() =>
        during({ servers: "all", agents: true }, async (runtime) => ({
          cwd: runtime.roots.project,
          tools: await listPlaygroundTools(runtime),
          problems: listProblems(runtime),
        })),
      ),
    explain: (tool_name, input) =>
      withInspectorErrors(() =>
        during({ servers: chooseServers(tool_name), agents: true }, async (runtime) => {
          refuseUnknownTool(runtime, tool_name);
          const run = await (await runtime.openEphemeralSession()).startRun();
          const call = { name: tool_name, arguments: JSON.stringify(input) };
          const { explanation, blocked } = await explainCall(run, call);
          return {
            explanation,
            session_scope:
              explanation.outcome === "ask"
                ? describeScopes(tool_name, explanation.scopes)
                : undefined,
            blocked: blocked.length === 0 ? undefined : blocked,
          };
        }),
      ),
    history: () => withInspectorErrors(() => readPlaygroundHistory(store)),
    call: (tool_name, input) => withInspectorErrors(() => begin(tool_name, input)),
    ended: (run_id) =>
      withInspectorErrors(async () => {
        const call = calls.get(run_id);
        if (call !== undefined) return call.ended;
        throw new InspectorError("not_found", `No call of this inspector has the run ${run_id}.`);
      }),
    async close() {
      closing.abort("interrupted by the user");
      await Promise.allSettled([...calls.values()].map(({ ended }) => ended));
    },
  };

  async function during<T>(
    parts: RuntimeParts,
    work: (runtime: Runtime) => Promise<T>,
  ): Promise<T> {
    const runtime = await openPlaygroundRuntime(parts);
    try {
      return await work(runtime);
    } finally {
      await closePlayground(runtime);
    }
  }

  /** Its servers have answered, or were waited for as long as the config says. */
  async function openPlaygroundRuntime(parts: RuntimeParts): Promise<Runtime> {
    if (open >= AT_ONCE) {
      const message = `${AT_ONCE} calls are under way here; answer or end some of them first.`;
      throw new InspectorError("failed", message);
    }
    open += 1;
    const runtime = await openRuntime({
      ...parts,
      env,
      cwd,
      note,
      config: await config(),
      // Someone may be there who answers what a server wants to know.
      broker: createApprovalBroker(),
    }).catch((error: unknown) => {
      open -= 1;
      throw error;
    });
    await runtime.ready(closing.signal);
    if (!closing.signal.aborted) return runtime;
    await closePlayground(runtime);
    throw new InspectorError("gone", "The inspector is being ended.");
  }

  async function closePlayground(runtime: Runtime): Promise<void> {
    try {
      await runtime.close();
    } finally {
      open -= 1;
    }
  }

  async function begin(tool_name: string, input: JsonValue): Promise<Called> {
    const runtime = await openPlaygroundRuntime({
      servers: chooseServers(tool_name),
      agents: /^(agent|internal)\./.test(tool_name),
    });
    try {
      refuseUnknownTool(runtime, tool_name);
      const held = await runtime.openSession({ title: PLAYGROUND_TITLE });
      const run = await held.session.startRun();
      const { run_id } = run.identity;
      const call = { ended: carriedOut(runtime, held, run, tool_name, input), isOver: false };
      calls.set(run_id, call);
      void call.ended.catch(() => {}).then(() => over(call));
      return { session_id: held.session.session_id, run_id };
    } catch (error) {
      await closePlayground(runtime);
      throw error;
    }
  }

  async function carriedOut(
    runtime: Runtime,
    held: StoredSession,
    run: Run,
    name: string,
    input: JsonValue,
  ): Promise<CallEnded> {
    let aborted: string | undefined;
    const stop = (reason: string): void => {
      aborted ??= reason;
      void run.abort(reason);
    };
    const stopAll = (): void => stop(String(closing.signal.reason));
    const stopListening = held.onAbort(stop);
    closing.signal.addEventListener("abort", stopAll);
    if (closing.signal.aborted) stopAll();
    try {
      const { session_id } = held.session;
      await attended(session_id);
      const executing = run.execute([{ name, arguments: JSON.stringify(input) }]);
      // Said while there was nothing to end yet.
      if (aborted !== undefined) stop(aborted);
      const [result] = await executing;
      if (result === undefined) throw new Error("the call has no result");
      run.end(aborted !== undefined ? "aborted" : result.is_error ? "failed" : "completed");
      const { run_id } = run.identity;
      return { session_id, run_id, tool_call_id: result.tool_call_id, result };
    } finally {
      stopListening();
      closing.signal.removeEventListener("abort", stopAll);
      await closePlayground(runtime);
    }
  }

  function over(call: { isOver: boolean }): void {
    call.isOver = true;
    const ended = [...calls].filter(([, { isOver }]) => isOver);
    for (const [run_id] of ended.slice(0, -REMEMBERED)) calls.delete(run_id);
  }
}

type RuntimeParts = Pick<Parameters<typeof openRuntime>[0], "servers" | "agents">;

/** Also those that a rule takes away: asking why is what a playground is for. */
async function listPlaygroundTools(runtime: Runtime): Promise<PlaygroundTool[]> {
  const { policy } = await (await runtime.openEphemeralSession()).startRun();
  const { tools } = runtime.kernel.registry.snapshot();
  return [...tools.values()].map((tool) => ({
    tool_name: tool.name,
    description: tool.definition.description,
    permission: toolFacts(policy, tool).permission,
    input_schema: tool.input.original as JsonObject,
    tags: tool.tags,
  }));
}

function listProblems({ mcp }: Runtime): string[] {
  const statuses = mcp?.status() ?? [];
  return statuses.flatMap(({ server_id, state, message }) => {
    if (state === "connected" || state === "disabled") return [];
    const why = message ?? (state === "connecting" ? "it has not answered yet" : `it is ${state}`);
    return [`The tools of the MCP server ${server_id} are not here: ${why}`];
  });
}
