// What the next request holds (CTX-1, CTX-3, CTX-4), settled and on record before it is made. Over the budget the
// conversation is compacted, and where that does not help, trimmed.

import { messageOf, type ModelTools } from "@soong/core";
import {
  cutMiddle,
  estimateTextTokens,
  planContext,
  snapshotMessages,
  type MessageSnapshot,
} from "../context/index.ts";
import type { Model } from "../model/index.ts";
import { compactContext } from "./compact-context.ts";
import { frameContext } from "./context-frame.ts";
import { keepFrame, keepJson, type KeptFrame, type SentTexts } from "./keep-request.ts";
import { recordContext, type ContextRecord, type RequestContents } from "./context-record.ts";
import { recordWarning, type RunBoard, type Running } from "./running.ts";

export interface ResolvedContext {
  readonly system: readonly string[];
  readonly kept: KeptFrame;
  readonly estimatedTokens: number;
  messages(model: Model): MessageSnapshot;
}

/** Of the last request of each run: most of it is the same in the next. */
const records = new WeakMap<Running, ContextRecord>();

export async function resolveContext(
  running: Running,
  tools: ModelTools,
): Promise<ResolvedContext | "aborted"> {
  const board = running.board === undefined ? "" : await readBoard(running, running.board);
  let held = collectContents(running, tools, board);
  if (held.plan.omitted.length > 0 && !running.compactionFailed) {
    const compacted = await compactContext(running, "budget");
    if (compacted === "aborted") return "aborted";
    // Once is enough: a summary before each request would cost more than what is trimmed.
    running.compactionFailed = compacted === "failed";
    held = collectContents(running, tools, board);
  }
  const { frame, estimatedTokens, plan } = held;
  const kept = (frame.kept ??= await keepFrame(running, frame.system, tools.tools));
  const last = records.get(running);
  const sent = board === "" && plan.note === undefined ? NOTHING : await keepTexts(running, held);
  records.set(running, recordContext(running, held, sent, last));
  // What comes in meanwhile is for the next request.
  const { kept: units } = plan;
  const count = units.length;
  return {
    system: frame.system,
    kept,
    estimatedTokens,
    messages(model) {
      const messages = snapshotMessages(units, model.id, { count, note: plan.note });
      messages.addText(board);
      return messages;
    },
  };
}

function collectContents(running: Running, tools: ModelTools, board: string): RequestContents {
  const { book, contextTokens: most = Number.POSITIVE_INFINITY } = running;
  const frame = frameContext(running, tools, records.get(running)?.frame);
  const fixed = frame.tokens + estimateTextTokens(board);
  const plan = planContext(book.units, most - fixed, book.tokens);
  return { frame, board, plan, estimatedTokens: fixed + plan.tokens };
}

const NOTHING: SentTexts = {};

/** Of this request alone. */
async function keepTexts(running: Running, { board, plan }: RequestContents): Promise<SentTexts> {
  return {
    board: board === "" ? undefined : await keepJson(running, "board.json", board),
    note: plan.note === undefined ? undefined : await keepJson(running, "note.json", plan.note),
  };
}

const MOST_BOARD_CHARS = 4_000;

/** A board that cannot be read is on record, and the request goes without it. */
async function readBoard(running: Running, board: RunBoard): Promise<string> {
  const { run, control } = running;
  const asked = Promise.resolve().then(() => board(run));
  const text = await control.unlessAborted(
    asked.catch((error: unknown) => {
      const why = run.redactor.text(messageOf(error));
      recordWarning(running, "board_unreadable", `The board could not be read: ${why}`);
      return undefined;
    }),
  );
  if (text === "aborted" || text === undefined || text.trim() === "") return "";
  return cutMiddle(run.redactor.text(text), MOST_BOARD_CHARS);
}
