// The question before a call (PERM-6), on a terminal: what would happen, why it is asked, and the three
// answers. It is put on stderr, so that stdout stays what was asked for.

import { createInterface } from "node:readline";
import type { AskPermission, PermissionAnswer } from "@soong/core";
import { describeRequest, type Output } from "../output/index.ts";

export interface Questions {
  readonly ask: AskPermission;
  /** Puts a yes-or-no question. No answer is no. */
  confirm(question: string): Promise<boolean>;
}

export function terminalQuestions(stdin: NodeJS.ReadStream, output: Output): Questions {
  return {
    ask: async (request, { signal }) => {
      output.note(describeRequest(request, output.noteColours).text);
      const isOnce = request.scopes.length === 0;
      const choices = isOnce
        ? "[y]es, this once / [n]o"
        : "[y]es, this once / for this [s]ession / [n]o";
      for (;;) {
        const answer = await readLine(`${choices}: `, signal);
        const decision = DECISIONS.get(answer?.trim().toLowerCase() ?? "no");
        if (decision === "allow_for_session" && isOnce) continue;
        if (decision === "deny") return denial(answer, signal);
        if (decision !== undefined) return { decision, answered_by: "terminal" };
      }
    },
    async confirm(question) {
      const answer = await readLine(`${question} [y/N]: `);
      return DECISIONS.get(answer?.trim().toLowerCase() ?? "no") === "allow_once";
    },
  };

  async function denial(
    answer: string | undefined,
    signal: { readonly aborted: boolean },
  ): Promise<PermissionAnswer> {
    const no = { decision: "deny", answered_by: "terminal" } as const;
    if (answer === undefined || signal.aborted) return no;
    const reason = (await readLine("Why not? (Enter: no reason) "))?.trim() ?? "";
    return reason === "" ? no : { ...no, reason };
  }

  /** Undefined when the terminal is gone, or the call is. */
  function readLine(prompt: string, signal?: AbortedSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      // The terminal keeps its own line editing, and turns Ctrl-C into a signal.
      const reader = createInterface({ input: stdin, terminal: false });
      let line: string | undefined;
      const stop = (): void => reader.close();
      reader.once("line", (text) => {
        line = text;
        reader.close();
      });
      reader.once("close", () => {
        signal?.removeEventListener("abort", stop);
        stdin.pause();
        if (line === undefined) output.note("");
        resolve(line);
      });
      signal?.addEventListener("abort", stop);
      output.prompt(prompt);
    });
  }
}

type AbortedSignal = Parameters<AskPermission>[1]["signal"];

const DECISIONS: ReadonlyMap<string, PermissionAnswer["decision"]> = new Map([
  ["y", "allow_once"],
  ["yes", "allow_once"],
  ["s", "allow_for_session"],
  ["session", "allow_for_session"],
  ["n", "deny"],
  ["no", "deny"],
]);
