// Which turn each call of a piece was of, and how that ended. An answer of a model is a turn; calls a program made follow
// on each other in the conversation, and the first of a turn has the index 0.

import { isTerminalFact, type Fact, type ToolResult, type Turn } from "@soong/core";
import { isInnerCall } from "@soong/agent";

export interface SegmentTurns {
  /** The turn an answer's fact is of; undefined for a request that has none, such as a compaction's. */
  answerOf(fact: Fact): number | undefined;
  /** The seq of the fact that ended it; none has, of one that was cut off. */
  endOf(answer: number): number;
  turnOf(tool_call_id: string): number;
  /** The last call of a turn that no model made: its turn ends with it. */
  isLast(tool_call_id: string): boolean;
  /** No more calls could come by then. */
  isOver(turn: number, seq: number): boolean;
  haltOf(turn: number): Halt | undefined;
}

/** From outside a turn, by its driver. */
export type Halt = "abort" | "discard" | "interrupt";

export function isHalt(kind: unknown): kind is Halt {
  return kind === "abort" || kind === "discard" || kind === "interrupt";
}

export function haltTurn(turn: Turn | undefined, how: Halt): void {
  if (how === "abort") void turn?.abort("as recorded");
  else if (how === "discard") void turn?.discard("as recorded");
  else turn?.interrupt("as recorded");
}

export function readTurns(segment: readonly Fact[]): SegmentTurns {
  const ofCall = new Map<string, number>();
  const ofAnswer = new Map<number, number>();
  const lastNode = new Map<string | undefined, number>();
  const last = new Map<number, string>();
  const ends = new Map<number, number>();
  const halts = new Map<number, Halt>();
  let answer: number | undefined;
  let count = 0;
  for (const fact of segment) {
    const { type, seq, data, tool_call_id = "" } = fact;
    if (type === "model.started" && data.purpose === undefined) {
      answer = count += 1;
      ofAnswer.set(seq, answer);
    } else if (type === "model.completed" || type === "model.failed") {
      if (answer !== undefined) ofAnswer.set(seq, answer);
      // One that was cut off is ended by its driver.
      const hasEnded = type === "model.completed" && data.stop !== "max_tokens";
      if (answer !== undefined && hasEnded) ends.set(answer, seq);
      answer = undefined;
    } else if (type === "tool.requested") {
      const { index, node_id, parent_node_id } = data;
      const follows = index === 0 ? undefined : lastNode.get(parent_node_id);
      const answered = isInnerCall(data) ? undefined : answer;
      const turn = answered ?? follows ?? (count += 1);
      ofCall.set(tool_call_id, turn);
      lastNode.set(node_id, turn);
      if (answered === undefined) last.set(turn, tool_call_id);
    } else if (isTerminalFact(fact)) {
      const halt = readHalt(fact.data.result ?? {});
      const turn = ofCall.get(tool_call_id);
      if (halt !== undefined && turn !== undefined && !halts.has(turn)) halts.set(turn, halt);
    }
  }
  return {
    answerOf: ({ seq }) => ofAnswer.get(seq),
    endOf: (turn) => ends.get(turn) ?? Number.POSITIVE_INFINITY,
    turnOf: (id) => ofCall.get(id) ?? 0,
    isLast(id) {
      const turn = ofCall.get(id) ?? 0;
      return last.get(turn) === id && !halts.has(turn);
    },
    isOver: (turn, seq) => (ends.get(turn) ?? Number.POSITIVE_INFINITY) < seq,
    haltOf: (turn) => halts.get(turn),
  };
}

export function readHalt({ status, error }: Partial<ToolResult>): Halt | undefined {
  if (status === "aborted") return "abort";
  if (status === "discarded") return "discard";
  return error?.code === "interrupted" ? "interrupt" : undefined;
}
