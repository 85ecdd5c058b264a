// What a conversation talks to: a session of the store, the models that answer and the mode, each of which may change
// between two prompts. The session is made with the first thing that is kept of it.

import {
  readHistory,
  sumUsage,
  type AgentDefinition,
  type LoopRun,
  type Model,
  type ProviderProfile,
  type UsageTotal,
} from "@soong/agent";
import {
  describeArguments,
  randomIds,
  type ContentBlock,
  type ConversationNode,
  type JsonObject,
  type Mode,
  type ToolGrant,
  type ToolResult,
} from "@soong/core";
import { buildLoopLimits, type LoadedConfig } from "../config/index.ts";
import { visibleLine, wrap } from "../output/index.ts";
import { openModels } from "../runtime/models.ts";
import type { StoredSession, Runtime } from "../runtime/open-runtime.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { openLoop, type OpenedLoop } from "./open-loop.ts";
import { createSessionMeter } from "./session-meter.ts";
import { callAsUser, type UserCall } from "./user-call.ts";
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
  const { runtime, config, env, definition } = options;
  const ids = randomIds();
  let { models } = options;
  let mode: Mode = options.mode ?? "normal";
  /** Something is stored under its id. */
  let isStored = options.resume !== undefined;
  let session_id = options.resume ?? ids.next("session");
  let held: StoredSession | undefined;
  let loop: OpenedLoop | undefined;
  let agent_id: string | undefined;
  /** The run that is next, or was last: what is read for a prompt is on record below it. */
  let run_id = ids.next("run");
  const meter = createSessionMeter((id) => id === agent_id);
  /** What the model reads with the next prompt. */
  let notes: ContentBlock[] = [];
  /** Their one call was typed by the user, which is a yes to it. */
  const typedRuns = new Set<string>();
  if (isStored) await loopNow("");

  return {
    meter,
    isTyped: (run_id: string) => typedRuns.has(run_id),
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
    /** In tokens: what a request may hold; undefined where that is not known. */
    get window(): number | undefined {
      const { context_window } = models[0].profile as Partial<ProviderProfile>;
      return buildLoopLimits(config.values).context_tokens ?? context_window;
    },
    /** Whether the model takes images in a prompt. Where it does not say, the provider will. */
    get takesImages(): boolean {
      return (models[0].profile as Partial<ProviderProfile>).images?.user !== false;
    },
    get mode() {
      return mode;
    },
    /** What was said so far, without what was rewound. */
    transcript: async () =>
      readTranscript(await readPath(), (await held?.kept.reader.calls()) ?? []),
    readPath,
    /** The runtime was stopped in the middle of its last run. */
    get wasInterrupted() {
      return loop?.interrupted === "restarted";
    },
    async send(prompt: readonly ContentBlock[]) {
      const about = prompt.find((block) => block.type === "text")?.text ?? "";
      return begin(about, ({ conversation }) => conversation.send([...notes.splice(0), ...prompt]));
    },
    /** Only sums up what was said. */
    compact: () => begin("", ({ conversation }) => conversation.compact()),
    /** For the model to read with the next prompt, such as what the user ran. */
    addNote(text: string): void {
      notes.push({ type: "text", text });
    },
    /** A call of the user's own, through the whole pipeline, on record in the session. */
    async call(name: string, input: JsonObject): Promise<UserCall> {
      const { conversation } = await loopNow(describeArguments(JSON.stringify(input)) ?? name);
      const { session } = await sessionNow("");
      const parent = { run_id, agent_id: conversation.agent_id };
      const call = await callAsUser(session, { mode, parent }, name, input);
      typedRuns.add(call.run_id);
      return call;
    },
    /** The run that was cut off continues. */
    resume: () => begin("", ({ conversation }) => conversation.resume()),
    /** Through the whole pipeline, on record in the session. */
    /** `about`: the prompt that mentions it. `isTyped`: naming it is a yes to reading it. */
    readFile: (path: string, { about, isTyped }: { about: string; isTyped: boolean }) =>
      callTool(about, "code.read_file", { path, max_lines: MOST_LINES }, isTyped),
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
      await leave(ids.next("session"), false);
    },
    /** Another session of the store. `used`: what it has used so far. */
    async switchTo(other: string, used: UsageTotal): Promise<void> {
      const before = { session_id, isStored, used: meter.usage };
      await leave(other, true);
      meter.reset(used);
      try {
        await loopNow("");
      } catch (error) {
        // Such as one that is open elsewhere: the conversation stays where it was.
        await leave(before.session_id, before.isStored);
        meter.reset(before.used);
        throw error;
      }
    },
    /** The next prompt continues from this node; what came after it stays as another branch. */
    async rewindTo(node_id: string): Promise<void> {
      const { session, kept } = await sessionNow("");
      await kept.rewind(session.recorder, node_id);
      // The loop that is opened next reads it.
      await session.recorder.flush();
      loop = undefined;
    },
  };

  async function callTool(
    about: string,
    tool: string,
    input: JsonObject,
    isTyped = false,
  ): Promise<ToolResult> {
    const { conversation } = await loopNow(about);
    const { session } = await sessionNow("");
    const parent = { run_id, agent_id: conversation.agent_id };
    const run = await session.startRun({ mode, parent });
    if (isTyped) typedRuns.add(run.identity.run_id);
    const result = await run.call(tool, input);
    run.end(result.is_error ? "failed" : "completed");
    return result;
  }

  async function leave(next: string, isNextStored: boolean): Promise<void> {
    await held?.close();
    held = undefined;
    loop = undefined;
    agent_id = undefined;
    notes = [];
    session_id = next;
    isStored = isNextStored;
    run_id = ids.next("run");
    meter.reset(sumUsage([]));
  }

  /** The conversation as it is on record, root first. */
  async function readPath(): Promise<readonly ConversationNode[]> {
    if (held === undefined || agent_id === undefined) return [];
    const { reader } = held.kept;
    const isKnown = (await reader.agents()).some((agent) => agent.agent_id === agent_id);
    return isKnown ? (await readHistory(reader, agent_id)).history : [];
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
    if (held !== undefined) return held;
    held = await runtime.openSession(
      isStored
        ? { resume: session_id, isConversation: true }
        : { session_id, title: visibleLine(about.trim()).slice(0, LONGEST_TITLE) },
    );
    isStored = true;
    meter.watch(held.session);
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
