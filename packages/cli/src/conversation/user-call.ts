// A call that the user makes in a conversation, such as `!command`: through the whole pipeline, on record, and with the
// events that a screen shows while it runs.

import { sumUsage, type LoopEvent, type LoopRun } from "@soong/agent";
import {
  viewsOf,
  type Fact,
  type FactType,
  type JsonObject,
  type RunOptions,
  type Session,
  type ToolResult,
} from "@soong/core";
import { visible } from "../output/index.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface UserCall extends Pick<LoopRun, "events" | "end" | "abort"> {
  readonly run_id: string;
  readonly result: Promise<ToolResult>;
}

const SHOWN: ReadonlySet<FactType> = new Set<FactType>([
  "tool.started",
  "tool.progress",
  "permission.requested",
  "permission.resolved",
  "permission.failed",
]);

export async function callAsUser(
  session: Session,
  options: RunOptions,
  name: string,
  input: JsonObject,
): Promise<UserCall> {
  const run = await session.startRun(options);
  const { run_id } = run.identity;
  const facts: Fact[] = [];
  let wake = (): void => {};
  let isOver = false;
  const stopWatching = session.watch({ types: SHOWN, run_id }, (fact) => {
    facts.push(fact());
    wake();
  });
  let isAborted = false;
  // After the caller has noted whose run it is: the call may need an answer at once.
  const result = Promise.resolve().then(conduct);
  const end = result.then(({ status }) => ({
    reason: isAborted || status === "aborted" ? ("aborted_tools" as const) : ("completed" as const),
    answer: "",
    usage: sumUsage([]),
    turns: 0,
  }));
  return {
    run_id,
    result,
    end,
    events,
    async abort(reason) {
      isAborted = true;
      await run.abort(reason);
    },
  };

  async function conduct(): Promise<ToolResult> {
    try {
      const made = await run.call(name, input);
      run.end(isAborted ? "aborted" : made.is_error ? "failed" : "completed");
      return made;
    } finally {
      isOver = true;
      stopWatching();
      wake();
    }
  }

  /** Not its result: the caller shows that whole. */
  async function* events(): AsyncGenerator<LoopEvent, undefined> {
    let started = false;
    for (;;) {
      const fact = facts.shift();
      if (fact === undefined) {
        if (isOver) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const { tool_call_id = "", tool_name = name } = fact;
      if (!started) {
        started = true;
        yield { type: "call", tool_call_id, name: tool_name, arguments: JSON.stringify(input) };
      }
      yield { type: "fact", fact };
    }
    yield { type: "end", end: await end };
    return undefined;
  }
}

/** All of what it has written, and how it ended. Answers with that for the model; undefined where it did not run. */
export function showCall(terminal: Pick<Terminal, "print" | "colours">, result: ToolResult) {
  const { status, is_error, error, summary } = result;
  const text = viewsOf(result).person.trimEnd();
  if (text !== "") terminal.print(visible(text));
  const message = error?.message ?? summary;
  if (is_error && !text.includes(message)) terminal.print(terminal.colours.red(visible(message)));
  if (status === "denied" || status === "rejected") return undefined;
  return text === "" ? summary : text;
}
