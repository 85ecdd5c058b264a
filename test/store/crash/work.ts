// The work a killed runtime is in the middle of: real tools on a real project, on a session of the store. Reads
// side by side, writes, commands, output that becomes an artifact, questions to the user, children, and a
// turn whose stream has not ended.

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  createKernel,
  type PermissionRequest,
  type Run,
  type Session,
  type ToolCall,
  type ToolResult,
  type Turn,
} from "@soong/core";
import type { OpenSession } from "@soong/store";
import { codeTools } from "@soong/tools";
import type { Instant, TurnName } from "./crash-job.ts";
import { crashTools, INLINE_BYTES } from "./crash-tools.ts";
import { contentOf, effectsIn, LEDGER, NOTES, NOTES_END, WRITTEN } from "./work-effects.ts";

export const MAIN_AGENT = "agent_main";

export interface WorkPlace {
  readonly opened: OpenSession;
  readonly project: string;
  /** Call ids begin with it. */
  readonly mark: string;
  readonly at?: (instant: Instant) => void;
  readonly delivered?: (results: readonly ToolResult[]) => void;
}

export interface Work {
  turns(names: readonly TurnName[]): Promise<void>;
  /** A few calls: enough to see that a session continues. */
  fewCalls(): Promise<ToolResult[]>;
  /** Calls that never end, in children too, with others waiting behind them. Comes back when they are under way. */
  neverEnding(): Promise<void>;
  end(): Promise<void>;
}

export async function beginWork(place: WorkPlace): Promise<Work> {
  const { opened, project, mark } = place;
  const { session_id, journal, artifacts, lastSeq } = opened;
  const kernel = createKernel({
    tools: [
      ...codeTools({ lockDirectory: join(project, ".locks") }),
      ...crashTools(project, place.at),
    ],
    config: { tools: { inline_limit_bytes: INLINE_BYTES } },
  });
  const session: Session = await kernel.openSession({
    session_id,
    journal,
    artifacts,
    lastSeq,
    roots: { project, write: [] },
    ask: answerLater,
    policy: {
      home: join(project, ".home"),
      rules: [
        { tool: "code.*", decision: "allow" },
        { tool: "code.run_command", decision: "allow" },
        { tool: "crash.*", decision: "allow" },
        { tool: "crash.asks", decision: "ask" },
      ],
    },
  });
  let lastNode = (await opened.reader.activePath(MAIN_AGENT)).at(-1)?.node_id;
  let calls = 0;
  const run = await session.startRun({ agent_id: MAIN_AGENT });
  const kinds: Record<TurnName, () => Promise<void>> = {
    reads,
    changes,
    commands,
    keeps,
    questions,
    child,
    streaming,
  };

  return {
    async turns(names) {
      for (const name of names) await kinds[name]();
    },
    async fewCalls() {
      return turn(run, [tally(), call("code.read_file", { path: NOTES }), call("crash.keeps", {})]);
    },
    async neverEnding() {
      await childRun("idle");
      // Of two calls side by side the second ends.
      const beside = await childRun("beside");
      const ofBeside = beside.openTurn();
      ofBeside.push(call("crash.waits", {}));
      ofBeside.push(call("code.read_file", { path: "src/one.ts" }));
      ofBeside.end();
      // A stream that never ends: what writes waits for that.
      const own = openTurn(run);
      for (const one of [call("crash.waits", {}), tally(), call("crash.never", {})]) own.push(one);
      const commanded = (await childRun("commands")).openTurn();
      const id = commanded.push(shell((command) => `echo ${command} >> ${LEDGER}; exec sleep 600`));
      commanded.push(tally());
      commanded.end();
      while (!effectsIn(project).has(id)) await delay(2);
      while (!(await hasEnded(beside))) await delay(2);
    },
    async end() {
      run.end("completed");
      await session.close();
    },
  };

  // ── turns ───────────────────────────────────────────────────────────────────────────────────────

  async function reads(): Promise<void> {
    await turn(run, [
      call("code.read_file", { path: "src/one.ts" }),
      call("code.read_file", { path: "src/two.ts" }),
      call("code.list_dir", { path: "." }),
      call("code.search", { query: "needle" }),
      call("code.read_file", { path: "src/none.ts" }),
      tally(),
    ]);
  }

  async function changes(): Promise<void> {
    await turn(run, [call("code.read_file", { path: NOTES })]);
    await turn(run, [
      withId("code.write_file", (id) => ({
        path: `${WRITTEN}/${id}.txt`,
        content: contentOf(id),
      })),
      withId("code.edit_file", (id) => ({
        path: NOTES,
        edits: [{ old: NOTES_END, new: `${id}\n${NOTES_END}` }],
      })),
      call("code.read_file", { path: NOTES }),
      tally(),
    ]);
  }

  async function commands(): Promise<void> {
    await turn(run, [
      shell((id) => `echo ${id} >> ${LEDGER}`),
      shell((id) => `echo ${id} >> ${LEDGER}; head -c 20000 /dev/zero | tr '\\0' x`),
    ]);
  }

  async function keeps(): Promise<void> {
    await turn(run, [call("crash.keeps", {}), call("crash.streams", {}), tally(), tally()]);
  }

  async function questions(): Promise<void> {
    await turn(run, [
      withId("crash.asks", (id) => ({ id, answer: "allow_once" })),
      tally(),
      withId("crash.asks", (id) => ({ id, answer: "deny" })),
    ]);
  }

  async function child(): Promise<void> {
    const created = await childRun("child");
    await Promise.all([
      turn(created, [tally(), call("code.read_file", { path: "src/one.ts" })]),
      turn(run, [tally(), call("code.read_file", { path: "src/two.ts" })]),
    ]);
    created.end("completed");
  }

  function childRun(name: string): Promise<Run> {
    return session.startRun({
      agent_id: `${mark}-${name}`,
      parent: { ...run.identity, policy: run.policy },
      role: "sub",
    });
  }

  async function hasEnded({ identity: { run_id } }: Run): Promise<boolean> {
    const ofRun = await opened.reader.calls({ run_id });
    return ofRun.some(({ ended_seq }) => ended_seq !== undefined);
  }

  async function streaming(): Promise<void> {
    const own = openTurn(run);
    own.push(call("code.read_file", { path: "src/one.ts" }));
    own.push(tally());
    await delay(3);
    own.push(call("code.read_file", { path: "src/two.ts" }));
    await settle(run, own);
  }

  async function turn(of: Run, given: readonly ToolCall[]): Promise<ToolResult[]> {
    const own = openTurn(of);
    for (const one of given) own.push(one);
    return settle(of, own);
  }

  /** The main agent's conversation is one line, from process to process. */
  function openTurn(of: Run): Turn {
    return of.openTurn(of === run && lastNode !== undefined ? { parentNodeId: lastNode } : {});
  }

  async function settle(of: Run, own: Turn): Promise<ToolResult[]> {
    if (of === run) lastNode = own.lastNodeId;
    own.end();
    const results = await own.settled();
    place.delivered?.(results);
    return results;
  }

  // ── calls ───────────────────────────────────────────────────────────────────────────────────────

  function call(name: string, input: object): ToolCall {
    return withId(name, () => input);
  }

  function withId(name: string, input: (id: string) => object): ToolCall {
    calls += 1;
    const id = `${mark}-${calls}`;
    return { id, name, arguments: input(id) };
  }

  function tally(): ToolCall {
    return call("crash.tally", {});
  }

  function shell(script: (id: string) => string): ToolCall {
    return withId("code.run_command", (id) => ({ argv: ["sh", "-c", script(id)] }));
  }
}

async function answerLater({ arguments: input }: PermissionRequest) {
  await delay(2);
  const { answer } = input as { answer: "allow_once" | "deny" };
  return { decision: answer };
}
