// What both versions of the AI SDK have in common: ask until nothing is paused, with the user's answers in between.

import type { BridgedOutput } from "@soong/bridge/ai-sdk";
import { openScenarioRun, type ScenarioRun } from "../../harness/open-scenario-run.ts";
import type { Play, Played, Scenario, ScenarioTool } from "../../scenario.ts";

/** One version of the SDK. */
export interface Sdk<Message> {
  /** `streamText` or `generateText`; bare if there is no run. */
  ask(request: AskRequest<Message>): Promise<Answer<Message>>;
  createMessage(message: UserMessage): Message;
}

export interface AskRequest<Message> {
  readonly play: Play;
  readonly run: ScenarioRun | undefined;
  readonly messages: Message[];
  readonly onProgress: (output: unknown) => void;
}

export interface Answer<Message> {
  readonly messages: readonly Message[];
  /** What the user has to approve. */
  readonly requests: readonly { readonly approvalId: string; readonly toolName: string }[];
}

export type UserMessage =
  | { role: "user"; content: string }
  | {
      role: "tool";
      content: { type: "tool-approval-response"; approvalId: string; approved: boolean }[];
    };

export async function playLoop<Message>(sdk: Sdk<Message>, play: Play): Promise<Played> {
  const { scenario, signal, mode } = play;
  const asked: string[] = [];
  const progress: string[] = [];
  const runs: ScenarioRun[] = [];
  const openRun = async (): Promise<ScenarioRun | undefined> => {
    if (mode === "bare") return undefined;
    const one = await openScenarioRun(scenario);
    runs.push(one);
    return one;
  };
  const end = await playUntilDone();
  for (const { run } of runs) run.end(end.end === "completed" ? "completed" : "aborted");
  return {
    ...end,
    asked: [...asked, ...runs.flatMap((one) => one.asked)],
    progress,
    facts: runs.flatMap(({ facts }) => facts),
  };

  async function playUntilDone(): Promise<Pick<Played, "end" | "error">> {
    let run = await openRun();
    let messages = [sdk.createMessage({ role: "user", content: "go" })];
    const onProgress = (output: unknown): void => {
      const message = (output as Partial<BridgedOutput>).progress?.message;
      if (message !== undefined) progress.push(message);
    };
    try {
      for (;;) {
        const answer = await sdk.ask({ play, run, messages, onProgress });
        messages.push(...answer.messages);
        if (answer.requests.length === 0) break;
        const content = answer.requests.map(({ approvalId, toolName }) => {
          const name = toolName.replaceAll("__", ".");
          asked.push(name);
          const approved = scenario.approve?.includes(name) === true;
          return { type: "tool-approval-response" as const, approvalId, approved };
        });
        messages.push(sdk.createMessage({ role: "tool", content }));
        if (scenario.restart !== true) continue;
        messages = JSON.parse(JSON.stringify(messages)) as Message[];
        run = await openRun();
      }
      return { end: signal.aborted ? "aborted" : "completed" };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { end: signal.aborted ? "aborted" : "failed", error: message };
    }
  }
}

/** What a tool of the SDK's own does in the mode `bare`, with progress as its documentation shows. */
export async function* executeBare(
  run: ScenarioTool["run"],
  input: unknown,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator {
  const reported: string[] = [];
  let wake: () => void = () => {};
  let isOver = false;
  const running = run(input as Parameters<typeof run>[0], {
    signal,
    progress(message) {
      reported.push(message);
      wake();
    },
  }).finally(() => {
    isOver = true;
    wake();
  });
  for (;;) {
    const message = reported.shift();
    if (message !== undefined) yield { progress: { message } };
    else if (isOver) break;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
  yield await running;
}

export function needsUser({ approval = "none" }: Scenario, { effect }: ScenarioTool): boolean {
  return approval !== "none" && effect === "write";
}

export function wireName({ name }: ScenarioTool): string {
  return name.replaceAll(".", "__");
}
