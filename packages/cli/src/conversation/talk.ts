// What a conversation talks to: a session of the store, the models that answer and the mode, each of which may change
// between two prompts. The session is made with the first thing that is kept of it.

import type { AgentDefinition, LoopRun, Model } from "@soong/agent";
import {
  randomIds,
  type ContentBlock,
  type ConversationNode,
  type Mode,
  type ToolGrant,
  type ToolResult,
} from "@soong/core";
import type { LoadedConfig } from "../config/index.ts";
import { visibleLine } from "../output/index.ts";
import { openModels, type StoredSession, type Runtime } from "../runtime/index.ts";
import { openLoop, type OpenedLoop } from "./open-loop.ts";

export interface Talk {
  readonly session_id: string;
  /** Something is kept under that id. */
  readonly isKept: boolean;
  readonly model: string;
  readonly mode: Mode;
  /** What was said before this conversation began, root first. */
  history(): Promise<readonly ConversationNode[]>;
  /** The runtime was stopped in the middle of its last run. */
  readonly wasInterrupted: boolean;
  send(prompt: readonly ContentBlock[]): Promise<LoopRun>;
  /** The run that was cut off continues. */
  resume(): Promise<LoopRun>;
  /** Through the whole pipeline, on record in the session. */
  readFile(path: string): Promise<ToolResult>;
  /** From the next prompt on. Throws a sentence. */
  useModel(reference: string): Promise<void>;
  useMode(mode: Mode): void;
  grants(): readonly ToolGrant[];
  revokeGrant(grant_id: string): ToolGrant | undefined;
  /** A new session; what was said is not known there. */
  startAnew(): Promise<void>;
}

export interface OpenTalkOptions {
  readonly runtime: Runtime;
  readonly config: LoadedConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly models: readonly [Model, ...Model[]];
  readonly mode?: Mode;
  readonly definition?: AgentDefinition;
  readonly resume?: string;
}

const MOST_LINES = 1000;
const LONGEST_TITLE = 80;

export async function openTalk(options: OpenTalkOptions): Promise<Talk> {
  const { runtime, config, env, resume, definition } = options;
  const ids = randomIds();
  let { models } = options;
  let mode: Mode = options.mode ?? "normal";
  let session_id = resume ?? ids.next("session");
  let held: StoredSession | undefined;
  let loop: OpenedLoop | undefined;
  let agent_id: string | undefined;
  /** The run that is next, or was last: what is read for a prompt is on record below it. */
  let run_id = ids.next("run");
  if (resume !== undefined) await loopNow("");

  return {
    get session_id() {
      return session_id;
    },
    get isKept() {
      return held !== undefined;
    },
    get model() {
      return models[0].id;
    },
    get mode() {
      return mode;
    },
    history: async () => loop?.history ?? [],
    get wasInterrupted() {
      return loop?.interrupted === "restarted";
    },
    send: (prompt) =>
      begin(prompt.find((block) => block.type === "text")?.text ?? "", ({ conversation }) =>
        conversation.send(prompt),
      ),
    resume: () => begin("", ({ conversation }) => conversation.resume()),
    async readFile(path) {
      const { conversation } = await loopNow(`@${path}`);
      const { session } = await sessionNow("");
      const parent = { run_id, agent_id: conversation.agent_id };
      const run = await session.startRun({ mode, parent });
      const result = await run.call("code.read_file", { path, max_lines: MOST_LINES });
      run.end(result.is_error ? "failed" : "completed");
      return result;
    },
    async useModel(reference) {
      models = await openModels(config.values, env, reference);
      loop = undefined;
    },
    useMode(next) {
      mode = next;
      loop = undefined;
    },
    grants: () => held?.session.grants() ?? [],
    revokeGrant: (grant_id) => held?.session.revokeGrant(grant_id),
    async startAnew() {
      await held?.close();
      held = undefined;
      loop = undefined;
      agent_id = undefined;
      session_id = ids.next("session");
      run_id = ids.next("run");
    },
  };

  async function begin(about: string, start: (loop: OpenedLoop) => LoopRun): Promise<LoopRun> {
    const opened = await loopNow(about);
    const session = await sessionNow(about);
    const run = start(opened);
    const stopListening = session.onAbort((reason) => void run.abort(reason));
    void run.end.then(stopListening);
    run_id = await run.run_id;
    return run;
  }

  async function sessionNow(about: string): Promise<StoredSession> {
    held ??= await runtime.openSession(
      resume === session_id ? { resume } : { session_id, title: titleOf(about) },
    );
    return held;
  }

  async function loopNow(about: string): Promise<OpenedLoop> {
    if (loop !== undefined) return loop;
    const session = await sessionNow(about);
    const isFirst = agent_id === undefined;
    loop = await openLoop({
      held: session,
      runtime,
      config,
      models,
      mode,
      definition,
      agent_id,
      ...(isFirst ? { run_id } : {}),
    });
    ({ agent_id } = loop.conversation);
    return loop;
  }
}

function titleOf(prompt: string): string {
  return visibleLine(prompt.trim()).slice(0, LONGEST_TITLE);
}
