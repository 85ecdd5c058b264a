// Writes facts and nodes the way a kernel would, one seq after the other, for checks that need an exact entry.

import type { FactData, FactType, ConversationNode, Fact, Journal, Recorder } from "@soong/core";

export interface FactWriter {
  /** The next fact of the session; the given fields are taken as they are. */
  fact(about?: WrittenFact): Fact;
  node(
    about: Partial<ConversationNode> & Pick<ConversationNode, "node_id">,
    text?: string,
  ): ConversationNode;
  /** Appends one fact, with these nodes. */
  add(about?: WrittenFact, nodes?: readonly ConversationNode[]): Fact;
  /** A fact that was refused has not used up its seq. */
  takeBack(): void;
  /** For what records through a recorder. */
  readonly recorder: Pick<Recorder, "recordClean">;
}

/** A journal keeps what it is handed, of any type. */
export interface WrittenFact extends Partial<Omit<Fact, "type" | "data">> {
  readonly type?: string;
  readonly data?: object;
}

export const WRITTEN_AT = "2026-01-02T03:04:05.678Z";

export function createFactWriter(
  session: { readonly session_id: string; readonly journal: Journal; readonly lastSeq?: number },
  time = WRITTEN_AT,
): FactWriter {
  const { session_id, journal } = session;
  let seq = session.lastSeq ?? 0;
  const writer: FactWriter = {
    fact(about = {}) {
      seq += 1;
      const own = { id: `f${seq}`, seq, type: "task.noted", time, level: "info" } as const;
      return { ...own, session_id, data: {}, ...about } as Fact;
    },
    node: (about, text = about.node_id) => ({
      session_id,
      run_id: "run_1",
      agent_id: "agent_1",
      kind: "message",
      content: [{ type: "text", text }],
      ...about,
    }),
    add(about, nodes) {
      const fact = writer.fact(about);
      journal.append(nodes === undefined ? { facts: [fact] } : { facts: [fact], nodes });
      return fact;
    },
    takeBack() {
      seq -= 1;
    },
    recorder: {
      recordClean: <T extends FactType>(type: T, data: FactData<T>) =>
        writer.add({ type, data }) as Fact<T>,
    },
  };
  return writer;
}
