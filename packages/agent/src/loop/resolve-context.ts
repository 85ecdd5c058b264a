// What the next request holds (CTX-1, CTX-3, CTX-4), settled and on record before it is made. Over the budget the
// conversation is compacted, and where that does not help, trimmed.

import { type ModelTools, messageOf } from "@soong/core";
import {
  addUser,
  readInstructionBlocks,
  toModelMessages,
  planContext,
  readPath,
  estimateTextTokens,
  estimateToolTokens,
  cutMiddle,
} from "../context/index.ts";
import type { Model, ModelMessage } from "../model/index.ts";
import { compactContext } from "./compact-context.ts";
import { recordContext, type RequestContents } from "./record-context.ts";
import { type Running, recordFact } from "./running.ts";
import { buildSystemTexts } from "./system-texts.ts";

export interface ResolvedContext {
  readonly system: readonly string[];
  readonly estimatedTokens: number;
  messages(model: Model): ModelMessage[];
}

export async function resolveContext(
  running: Running,
  tools: ModelTools,
): Promise<ResolvedContext | "aborted"> {
  const board = await readBoard(running);
  let held = collectContents(running, tools, board);
  if (held.plan.omitted.length > 0 && !running.compactionFailed) {
    const compacted = await compactContext(running, "budget");
    if (compacted === "aborted") return "aborted";
    // Once is enough: a summary before each request would cost more than what is trimmed.
    running.compactionFailed = compacted === "failed";
    held = collectContents(running, tools, board);
  }
  recordContext(running, tools, held);
  const { plan, system, estimatedTokens } = held;
  return {
    system: system.map(({ text }) => text),
    estimatedTokens,
    messages(model) {
      const messages: ModelMessage[] = [];
      if (plan.note !== undefined) addUser(messages, [{ type: "text", text: plan.note }]);
      for (const message of toModelMessages(plan.kept, model.id)) {
        if (message.role === "user") addUser(messages, message.content);
        else messages.push(message);
      }
      if (board !== undefined) addUser(messages, [{ type: "text", text: board }]);
      return messages;
    },
  };
}

function collectContents(running: Running, tools: ModelTools, board = ""): RequestContents {
  const { path, limits } = running;
  const { context_tokens: most = Number.POSITIVE_INFINITY, instruction_bytes } = limits;
  const { units, orphans } = readPath(path);
  // Half of what a request may hold, at four bytes a token: there must be room for the conversation.
  const instructions = readInstructionBlocks(path, Math.min(instruction_bytes, most * 2));
  const system = buildSystemTexts(running, tools, instructions);
  const fixed =
    system.reduce((sum, { text }) => sum + estimateTextTokens(text), estimateTextTokens(board)) +
    estimateToolTokens(tools.tools);
  const plan = planContext(units, most - fixed);
  return { system, board, instructions, plan, orphans, estimatedTokens: fixed + plan.tokens };
}

const MOST_CHARS = 4_000;

/** A board that cannot be read is on record, and the request goes without it. */
export async function readBoard(running: Running): Promise<string | undefined> {
  const { board, run, control } = running;
  if (board === undefined) return undefined;
  const asked = Promise.resolve().then(() => board(run));
  const text = await control.unlessAborted(
    asked.catch((error: unknown) => {
      const message = `The board could not be read: ${run.redactor.text(messageOf(error))}`;
      recordFact(running, "error", { code: "board_unreadable", message }, "warn");
      return undefined;
    }),
  );
  if (text === "aborted" || text === undefined || text.trim() === "") return undefined;
  return cutMiddle(run.redactor.text(text), MOST_CHARS);
}
