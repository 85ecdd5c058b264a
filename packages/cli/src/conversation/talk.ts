// What a conversation talks to: a session of the store, the models that answer and the mode, each of which may change
// between two prompts. The session is made with the first thing that is kept of it.

import type { AgentDefinition, LoopRun, Model } from "@soong/agent";
import {
  randomIds,
  type ContentBlock,
  type JsonObject,
  type Mode,
  type ToolGrant,
  type ToolResult,
} from "@soong/core";
import type { LoadedConfig } from "../config/index.ts";
import { visibleLine, wrap } from "../output/index.ts";
import { openModels } from "../runtime/models.ts";
import type { StoredSession, Runtime } from "../runtime/open-runtime.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { openLoop, type OpenedLoop } from "./open-loop.ts";
import { countEarlier, readTranscript, renderTranscriptEnd } from "./transcript.ts";

export type Talk = Awaited<ReturnType<typeof openTalk>>;

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

export async function openTalk(options: OpenTalkOptions) {
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
    /** Something is stored under that id. */
    get isKept() {
      return held !== undefined;
    },
    get model(): string {
      return models[0].id;
    },
    get mode() {
      return mode;
    },
    /** What was said before this conversation began. */
    transcript: async () =>
      readTranscript(loop?.history ?? [], (await held?.kept.reader.calls()) ?? []),
    /** The runtime was stopped in the middle of its last run. */
    get wasInterrupted() {
      return loop?.interrupted === "restarted";
    },
    send: (prompt: readonly ContentBlock[]) =>
      begin(prompt.find((block) => block.type === "text")?.text ?? "", ({ conversation }) =>
        conversation.send(prompt),
      ),
    /** The run that was cut off continues. */
    resume: () => begin("", ({ conversation }) => conversation.resume()),
    /** Through the whole pipeline, on record in the session. */
    readFile: (path: string) =>
      callTool(`@${path}`, "code.read_file", { path, max_lines: MOST_LINES }),
    readArtifact: (artifact_id: string, offset: number, length: number) =>
      callTool("", "internal.read_artifact", { artifact_id, offset, length }),
    /** What an agent of this session did and said. */
    async transcriptOf(agent: string) {
      if (held === undefined) return [];
      const { reader } = held.kept;
      return readTranscript(await reader.activePath(agent), await reader.calls());
    },
    /** From the next prompt on. Throws a sentence. */
    async useModel(reference: string): Promise<void> {
      models = await openModels(config.values, env, reference);
      loop = undefined;
    },
    useMode(next: Mode): void {
      mode = next;
      loop = undefined;
    },
    grants: (): readonly ToolGrant[] => held?.session.grants() ?? [],
    revokeGrant: (grant_id: string) => held?.session.revokeGrant(grant_id),
    /** A new session; what was said is not known there. */
    async startAnew(): Promise<void> {
      await held?.close();
      held = undefined;
      loop = undefined;
      agent_id = undefined;
      session_id = ids.next("session");
      run_id = ids.next("run");
    },
  };

  async function callTool(about: string, tool: string, input: JsonObject): Promise<ToolResult> {
    const { conversation } = await loopNow(about);
    const { session } = await sessionNow("");
    const parent = { run_id, agent_id: conversation.agent_id };
    const run = await session.startRun({ mode, parent });
    const result = await run.call(tool, input);
    run.end(result.is_error ? "failed" : "completed");
    return result;
  }

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
      resume === session_id
        ? { resume }
        : { session_id, title: visibleLine(about.trim()).slice(0, LONGEST_TITLE) },
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

/** What a conversation begins with: where it is and with whom, and how it continued so far. */
export async function openingText(
  { columns, colours }: Pick<Terminal, "columns" | "colours">,
  talk: Talk,
  project: string,
): Promise<string> {
  const { bold, dim } = colours;
  const name = "soong";
  const parts = [
    visibleLine(talk.model),
    visibleLine(project),
    `mode ${talk.mode}`,
    visibleLine(talk.session_id),
    "/help",
  ];
  const [first = "", ...more] = wrap(`${name} ${parts.join(" · ")}`, columns - 1);
  const said = await talk.transcript();
  const earlier = countEarlier(said);
  const hint = `… ${earlier} earlier; \`soong show ${visibleLine(talk.session_id)}\` prints all.`;
  return [
    `${bold(name)}${dim(first.slice(name.length))}`,
    ...more.map(dim),
    ...(earlier === 0 ? [] : [dim(hint)]),
    ...renderTranscriptEnd(said, { columns, colours }),
  ].join("\n");
}
