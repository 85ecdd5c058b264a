// `soong questions`: the open questions, also those of a runtime that is gone (PERM-20).

import type { QuestionRecord, Store } from "@soong/store";
import { readStoredRequest } from "@soong/control";
import { EXIT, visibleLine } from "../../output/index.ts";
import { resolveHome, createHomeRedactor, type CommandContext } from "../context.ts";
import { withReadOnlyStore } from "../stored.ts";
import { JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "questions",
  summary: "list the open questions, also those of a runtime that was stopped",
  options: [JSON_OPTION],
  examples: ["soong questions", "soong questions answer ask_0abc"],
  subcommands: { answer: () => import("./questions-answer.ts") },
  run: listQuestions,
};

async function listQuestions(
  context: CommandContext,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output } = context;
  const redactor = await createHomeRedactor(await resolveHome(context), context.env);
  const open = await withReadOnlyStore<QuestionRecord[]>(context, openQuestions, () => []);
  for (const question of open) {
    if (json) output.record("soong.questions/1", redactor.value(question));
    else showQuestion(redactor.value(question));
  }
  if (open.length === 0 && !json) output.note("No question is open.");
  return EXIT.ok;

  function showQuestion(question: QuestionRecord): void {
    const { bold, dim } = output.colours;
    const { question_id, tool_name, session_id, asked_at } = question;
    output.line(`${bold(visibleLine(question_id))}  ${visibleLine(tool_name)}`);
    const { request } = readStoredRequest(question);
    const { reason, message } = request as { reason?: string; message?: string };
    output.line(`    ${visibleLine(reason ?? message ?? "")}`);
    output.line(dim(`    asked ${asked_at} in ${visibleLine(session_id)}`));
  }
}

async function openQuestions(store: Store): Promise<QuestionRecord[]> {
  return (await store.questions().list()).filter(({ state }) => state === "open");
}
