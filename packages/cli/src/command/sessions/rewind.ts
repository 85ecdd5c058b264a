// `soong rewind`: lets a session continue from an earlier point (STORE-2, CLI-7). The points are offered by the prompts that
// would be taken back.

import { createKernel, type ConversationNode } from "@soong/core";
import type { SessionReader, Store } from "@soong/store";
import { readTranscript } from "../../conversation/transcript.ts";
import {
  CommandError,
  EXIT,
  fit,
  measureWidth,
  visibleLine,
  type Output,
} from "../../output/index.ts";
import { matchId, type IdSubject } from "../match-id.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { resolveProjectPath, resolveSession, withReadOnlyStore, withStore } from "../stored.ts";

export const rewindSession: Handler<"rewind"> = async (context, { session: given, node }) => {
  const missing = given === undefined ? "session" : `session ${given}`;
  const { session_id, project, node_id, points } = await withReadOnlyStore(
    context,
    missing,
    async (store) => {
      const record = await resolveSession(context, store, given, { isConversation: true });
      const reader = await store.readSession(record.session_id);
      return {
        session_id: record.session_id,
        project: record.project,
        node_id: node === undefined ? undefined : await findNode(reader, node),
        points: node === undefined ? await readRewindPoints(reader) : [],
      };
    },
  );
  const { output, isInteractive } = context;
  if (node_id === undefined && !isInteractive) return printPoints(output, session_id, points);
  const chosen = node_id ?? (await pickPoint(context, points));
  if (chosen === undefined) return EXIT.interrupted;
  await withStore(context, (store) => rewindTo(store, session_id, chosen));
  output.line(`Session ${visibleLine(session_id)} continues from ${visibleLine(chosen)}.`);
  // Now it is the last one used here.
  const isHere = project === (await resolveProjectPath(context.cwd));
  const next = isHere ? "soong -c" : `soong resume ${visibleLine(session_id)}`;
  output.note(`What came after it stays as a branch. \`${next}\` continues.`, "dim");
  return EXIT.ok;
};

async function rewindTo(store: Store, session_id: string, node_id: string): Promise<void> {
  const kept = await store.openSession(session_id);
  // Without tools and hooks: this records one fact and starts nothing.
  const session = await createKernel().openSession(kept);
  try {
    await kept.rewind(session.recorder, node_id);
  } finally {
    await session.close();
    await kept.close();
  }
}

export interface RewindPoint {
  /** Where the conversation would continue: right before the prompt. */
  readonly node_id: string;
  readonly prompt: string;
}

/** Newest first. What comes before the first prompt is no point: that would be a new session. */
export function listRewindPoints(path: readonly ConversationNode[]): RewindPoint[] {
  const parents = new Map(path.map(({ node_id, parent_id }) => [node_id, parent_id]));
  const prompts = readTranscript(path, []).filter(({ kind }) => kind === "prompt");
  return prompts
    .slice(1)
    .flatMap((entry) => {
      const node_id = parents.get(entry.node_id);
      return node_id === undefined || entry.kind !== "prompt"
        ? []
        : [{ node_id, prompt: entry.text }];
    })
    .toReversed();
}

export async function readConversationPoints(reader: SessionReader): Promise<RewindPoint[]> {
  return listRewindPoints(await readMainPath(reader));
}

async function readRewindPoints(reader: SessionReader): Promise<RewindPoint[]> {
  const points = await readConversationPoints(reader);
  if (points.length > 0) return points;
  throw new CommandError(
    `Session ${visibleLine(reader.session_id)} has no earlier point: it has one prompt at most. \`soong\` begins a new session.`,
  );
}

async function pickPoint(
  context: CommandContext,
  points: readonly RewindPoint[],
): Promise<string | undefined> {
  const { pickAtTerminal } = await import("../../terminal/pick-one.ts");
  return pickAtTerminal(context, {
    title: "Go back to before which prompt?",
    items: points.map(({ node_id, prompt }) => ({ label: prompt, value: node_id })),
  });
}

/** Where no one can choose. */
function printPoints(output: Output, session_id: string, points: readonly RewindPoint[]): number {
  for (const { node_id, prompt } of points) {
    const head = `${visibleLine(node_id)}  before: `;
    output.line(`${head}${fit(visibleLine(prompt), output.width - measureWidth(head))}`);
  }
  output.note(
    `\`soong rewind ${visibleLine(session_id)} NODE\` continues the session from one of these.`,
    "dim",
  );
  return EXIT.ok;
}

async function readMainPath(reader: SessionReader): Promise<ConversationNode[]> {
  const [main] = await reader.agents();
  return main === undefined ? [] : reader.activePath(main.agent_id);
}

/** Of any branch by its whole id; by a prefix of one on the way to where the session is now. */
async function findNode(reader: SessionReader, given: string): Promise<string> {
  const exact = await reader.node(given);
  if (exact !== undefined) return exact.node_id;
  return matchId(given, await readMainPath(reader), NODE).node_id;
}

const NODE: IdSubject<ConversationNode> = {
  kind: "node",
  id: ({ node_id }) => node_id,
  describe: ({ kind, content }) => {
    const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
    return `${kind.replaceAll("_", " ")}: ${fit(visibleLine(text), 60)}`;
  },
  hint: "`soong rewind SESSION` lists the points to go back to.",
};
