// The two views of `soong attach`: a program reads records and writes answers in lines of JSON; a user at a second terminal reads
// what happens, and gets the questions one after the other.

import { createInterface } from "node:readline";
import type { Fact } from "@soong/core";
import { isRecord } from "@soong/schema";
import type { ControlClient, ControlEvent, ListedQuestion, QuestionAnswer } from "@soong/control";
import { visibleLine } from "../../output/index.ts";
import { loadFactTexts, renderFactLine } from "../facts.ts";
import type { CommandContext } from "../handler.ts";
import { createTerminalQuestions } from "../terminal-questions.ts";
import { describeTarget, isGone, rethrowUnlessGone, type LiveTarget } from "./live-runtimes.ts";

/** A live session that a command is attached to. */
export interface Attached {
  readonly runtime: LiveTarget;
  readonly client: ControlClient;
  /** Aborted when the command leaves. */
  readonly left: AbortSignal;
}

export interface AttachedView {
  event(event: ControlEvent): void;
  /** The session has ended, or we leave it. */
  end(how: "ended" | "left"): void;
}

/** When stdin ends, it no longer answers questions. */
export async function openProgramView(
  { stdin, print }: CommandContext,
  { runtime, client, left }: Attached,
): Promise<AttachedView> {
  const record = (data: object): void => print(data, () => {});
  const { session_id, project, pid, runs } = runtime.hello;
  record({ event: "attached", session_id, project, pid, host: runtime.host, runs });
  await client.request("questions.attend", { name: "attach" }).catch(rethrowUnlessGone);
  void answerAll();
  return {
    event(event) {
      if (event.event === "question.opened") record({ event: "question", ...event.data });
      if (event.event === "question.settled") record({ event: "settled", ...event.data });
      if (event.event === "fact") record({ event: "fact", fact: event.data });
    },
    end(how) {
      record({ event: how });
      stdin.destroy();
    },
  };

  async function answerAll(): Promise<void> {
    try {
      for await (const line of createInterface({ input: stdin, signal: left })) {
        if (line.trim() !== "") await answerOne(parseLine(line));
      }
      await client.request("questions.leave", {});
    } catch {
      // The runtime is gone, or stdin is: nothing can be answered any more.
      client.close();
    }
  }

  /** The runtime validates the answer; here it only has to be an object. */
  async function answerOne(given: unknown): Promise<void> {
    if (!isRecord(given)) {
      return record({ event: "refused", message: "An answer is an object in JSON." });
    }
    const { question_id, method, params = {} } = given as Record<string, unknown>;
    if (method !== undefined) return act(method, params);
    try {
      await client.request("questions.answer", given as QuestionAnswer);
      record({ event: "answered", question_id });
    } catch (error) {
      if (isGone(error)) throw error;
      record({ event: "refused", question_id, message: (error as Error).message });
    }
  }

  async function act(method: unknown, params: unknown): Promise<void> {
    const known = METHODS.find((one) => one === method);
    if (known === undefined || !isRecord(params)) {
      const message = `A request has one of the methods ${METHODS.join(", ")}, and params that are an object.`;
      return record({ event: "refused", method, message });
    }
    try {
      // The runtime validates the params.
      const result = await client.request<Method>(known, params);
      record({ event: "result", method, ...result });
    } catch (error) {
      if (isGone(error)) throw error;
      record({ event: "refused", method, message: (error as Error).message });
    }
  }
}

const METHODS = ["grants.list", "grants.revoke", "run.abort"] as const;
type Method = (typeof METHODS)[number];

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const MAX_HELD = 1000;

const THROUGH_THE_STORE =
  "Reached through the store: a call that is sensitive or very long can only be denied here, and a run that no one attends on its own machine denies what requires approval without asking, unless it is a worker's.";

/** Without an interactive terminal, it only shows what happens. */
export async function openTerminalView(
  { output, isInteractive, stdin }: CommandContext,
  { runtime, client, left }: Attached,
): Promise<AttachedView> {
  const questions = createTerminalQuestions(stdin, output, { edits: false });
  /** The open questions, each with a controller that ends the wait for its answer. */
  const open = new Map<string, { question: ListedQuestion; settled: AbortController }>();
  /** Facts that are shown after the current question. */
  const held: Fact[] = [];
  let isAsking = false;
  let isLineOpen = false;
  const texts = await loadFactTexts();

  if (isInteractive) {
    await client.request("questions.attend", { name: "terminal" }).catch(rethrowUnlessGone);
  } else
    output.note("No one can be asked here: others answer the questions. --json is for programs.");
  const where = describeTarget(runtime);
  output.note(visibleLine(`${where}. Ctrl-C leaves it; it continues.`), "dim");
  if (runtime.host !== undefined && isInteractive) output.note(THROUGH_THE_STORE, "dim");

  return {
    event(event) {
      if (event.event === "question.opened") {
        const question = event.data;
        open.set(question.question_id, { question, settled: new AbortController() });
        if (!isAsking) void askAll();
      }
      if (event.event === "question.settled") open.get(event.data.question_id)?.settled.abort();
      if (event.event !== "fact") return;
      held.push(event.data);
      if (!isAsking || held.length > MAX_HELD) showHeld();
    },
    end(how) {
      for (const { settled } of open.values()) settled.abort();
      showHeld();
      closeLine();
      output.note(
        how === "left" ? "Left; the session continues." : "The session has ended.",
        "dim",
      );
    },
  };

  async function askAll(): Promise<void> {
    isAsking = true;
    for (;;) {
      const [next] = open.values();
      if (next === undefined || left.aborted) break;
      await ask(next.question, AbortSignal.any([next.settled.signal, left]));
      open.delete(next.question.question_id);
      showHeld();
    }
    isAsking = false;
  }

  async function ask(question: ListedQuestion, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    closeLine();
    const { question_id } = question;
    const answer = await put(question, signal).catch(() => {
      // Of another version, or changed by hand in the store.
      const id = visibleLine(question_id);
      output.note(
        `The request ${id} cannot be shown here; \`soong questions answer ${id} deny\` denies it.`,
      );
    });
    if (answer === undefined) return;
    // The question was answered elsewhere, or we leave: this is no answer.
    if (signal.aborted) return;
    try {
      await client.request("questions.answer", { question_id, ...answer });
    } catch (error) {
      if (!isGone(error)) output.note(visibleLine((error as Error).message));
    }
  }

  async function put(question: ListedQuestion, signal: AbortSignal) {
    return question.kind === "permission"
      ? questions.ask(question.request, { signal })
      : questions.elicit(question.request, { signal });
  }

  function showHeld(): void {
    for (const fact of held.splice(0)) {
      const said = renderFactLine(fact, texts, output.noteColours);
      if (said?.kind === "text") {
        output.text(said.text);
        isLineOpen = !said.text.endsWith("\n");
      } else if (said !== undefined) {
        closeLine();
        output.note(said.text);
      }
    }
  }

  function closeLine(): void {
    if (isLineOpen) output.line();
    isLineOpen = false;
  }
}
