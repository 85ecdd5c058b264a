// A live session for a program: records on stdout, answers as lines of JSON on stdin. When stdin ends, questions are
// left to others.

import { createInterface } from "node:readline";
import { isRecord } from "@soong/schema";
import type { ControlClient, ControlEvent, QuestionAnswer } from "@soong/control";
import type { Output } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { isGone, rethrowUnlessGone, type Attached, type AttachedView } from "./live-runtimes.ts";

const SCHEMA = "soong.attach/1";

export async function openProgramView(
  { output, stdin }: CommandContext,
  { runtime, client, left }: Attached,
): Promise<AttachedView> {
  const { session_id, project, pid, runs } = runtime.hello;
  output.record(SCHEMA, { event: "attached", session_id, project, pid, runs });
  await client.request("questions.attend", { name: "attach" }).catch(rethrowUnlessGone);
  void answerAll(stdin, client, output, left);
  return {
    event(event) {
      const record = toRecord(event);
      if (record !== undefined) output.record(SCHEMA, record);
    },
    end(how) {
      output.record(SCHEMA, { event: how });
      stdin.destroy();
    },
  };
}

function toRecord(event: ControlEvent): object | undefined {
  switch (event.event) {
    case "question.opened":
      return { event: "question", ...event.data };
    case "question.settled":
      return { event: "settled", ...event.data };
    case "fact":
      return { event: "fact", fact: event.data };
    case "facts.end":
    case "hello":
      return undefined;
  }
}

async function answerAll(
  stdin: NodeJS.ReadStream,
  client: ControlClient,
  output: Output,
  left: AbortSignal,
): Promise<void> {
  try {
    for await (const line of createInterface({ input: stdin, signal: left })) {
      if (line.trim() !== "") await answerOne(line, client, output);
    }
    await client.request("questions.leave", {});
  } catch {
    // The runtime is gone, or stdin is: nothing can be answered any more.
    client.close();
  }
}

/** The runtime looks at what is in it; here it only has to be an object. */
async function answerOne(line: string, client: ControlClient, output: Output): Promise<void> {
  const given = parseAnswer(line);
  if (!isRecord(given)) {
    output.record(SCHEMA, { event: "refused", message: "An answer is an object in JSON." });
    return;
  }
  const { question_id } = given as { question_id?: unknown };
  try {
    await client.request("questions.answer", given as QuestionAnswer);
    output.record(SCHEMA, { event: "answered", question_id });
  } catch (error) {
    if (isGone(error)) throw error;
    output.record(SCHEMA, { event: "refused", question_id, message: (error as Error).message });
  }
}

function parseAnswer(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
