// A live session as a user sees it from a second terminal: lines of what happens, and its questions one after
// the other. Where no one sits, it is watched only.

import type { Fact } from "@soong/core";
import type { ListedQuestion } from "@soong/control";
import { visibleLine } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { loadFactTexts, renderFactLine } from "../facts.ts";
import { isGone, rethrowUnlessGone, type Attached, type AttachedView } from "./live-runtimes.ts";
import { createTerminalQuestions } from "../terminal-questions.ts";

const MAX_HELD = 1000;

export async function openTerminalView(
  context: CommandContext,
  { runtime, client, left }: Attached,
): Promise<AttachedView> {
  const { output, isInteractive } = context;
  const { dim } = output.noteColours;
  const questions = createTerminalQuestions(context.stdin, output, { edits: false });
  /** Open here, each with what ends the wait for its answer. */
  const open = new Map<
    string,
    { readonly question: ListedQuestion; readonly settled: AbortController }
  >();
  /** Not to be said into an open question. */
  const held: Fact[] = [];
  let isAsking = false;
  let isLineOpen = false;
  const texts = await loadFactTexts();

  if (isInteractive) {
    await client.request("questions.attend", { name: "terminal" }).catch(rethrowUnlessGone);
  } else
    output.note("No one can be asked here: others answer the questions. --json is for programs.");

  output.note(
    dim(
      visibleLine(
        `${runtime.hello.session_id}, ${runtime.hello.project} (process ${runtime.hello.pid}). Ctrl-C leaves it; it continues.`,
      ),
    ),
  );

  return {
    event(event) {
      if (event.event === "question.opened") return showQuestion(event.data);
      if (event.event === "question.settled") open.get(event.data.question_id)?.settled.abort();
      if (event.event !== "fact") return;
      held.push(event.data);
      if (!isAsking || held.length > MAX_HELD) showHeld();
    },
    end(how) {
      for (const { settled } of open.values()) settled.abort();
      showHeld();
      closeLine();
      output.note(dim(how === "left" ? "Left; the session continues." : "The session has ended."));
    },
  };

  function showQuestion(question: ListedQuestion): void {
    open.set(question.question_id, { question, settled: new AbortController() });
    if (!isAsking) void askAll();
  }

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
    const answer =
      question.kind === "permission"
        ? await questions.ask(question.request, { signal })
        : await questions.elicit(question.request, { signal });
    // Someone was faster, or we leave: this is no answer.
    if (signal.aborted) return;
    try {
      await client.request("questions.answer", { question_id, ...answer });
    } catch (error) {
      if (!isGone(error)) output.note(visibleLine((error as Error).message));
    }
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
