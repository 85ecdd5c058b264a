// A conversation over a model whose every event a test writes down, on a held clock and a journal to look into.

import {
  createHeldClock,
  createKernel,
  createMemoryArtifacts,
  PORTABLE_PROFILE,
  type AnyTool,
  type ConfigInput,
  type Fact,
  type FactType,
  type HeldClock,
  type ModelProfile,
  type Session,
  type SessionOptions,
  type ToolSource,
} from "@soong/core";
import { factsOfTypes } from "../facts.ts";
import type { Model, ModelError, ModelEvent, ModelMessage, ModelRequest } from "@soong/agent";
import {
  openConversation,
  type Conversation,
  type LoopEvent,
  type LoopOptions,
  type LoopRun,
  type RunEnd,
} from "../../packages/agent/src/loop/index.ts";
import { createSpyJournal, type SpyJournal, type SpyOptions } from "../core/spy-journal.ts";

/** What a model does next: tell an event, wait, or whatever else. */
export type Step = ModelEvent | { readonly wait: number } | (() => void | Promise<void>);

export type Answer = readonly Step[] | ((request: ModelRequest) => readonly Step[]);

export interface WrittenModel extends Model {
  readonly requests: readonly ModelRequest[];
}

/** Answers one after the other; a request past the last is a bug of the test. */
export function writtenModel(
  clock: HeldClock,
  answers: readonly Answer[],
  id = "test:written",
  profile: ModelProfile = PORTABLE_PROFILE,
): WrittenModel {
  const requests: ModelRequest[] = [];
  return {
    id,
    profile,
    requests,
    async *stream(request, signal) {
      requests.push(request);
      const answer = answers[requests.length - 1];
      if (answer === undefined) throw new Error(`request ${requests.length} was not expected`);
      for (const step of typeof answer === "function" ? answer(request) : answer) {
        if (typeof step === "function") await step();
        else if (isWait(step)) {
          await new Promise<void>((resolve) => {
            const forget = clock.after(step.wait, resolve);
            signal.addEventListener("abort", () => {
              forget();
              resolve();
            });
          });
        } else yield step;
        if (signal.aborted) {
          yield failed("aborted");
          return;
        }
      }
    },
  };
}

/** A test may also have a model tell what is no event at all. */
function isWait(step: unknown): step is { readonly wait: number } {
  return typeof step === "object" && step !== null && "wait" in step;
}

export const USED = { input_tokens: 10, output_tokens: 5 };

export function says(text: string): ModelEvent {
  return { type: "text_delta", text };
}

export function calls(name: string, input: unknown = {}, id?: string): ModelEvent {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const own = id === undefined ? {} : { id };
  return { type: "call_complete", key: id ?? `${name}:${text}`, ...own, name, arguments: text };
}

export function done(
  stop: "end_turn" | "tool_use" | "max_tokens" | "refused" = "end_turn",
): ModelEvent {
  return { type: "completed", stop, usage: USED };
}

export function failed(kind: ModelError["kind"], more: Partial<ModelError> = {}): ModelEvent {
  return { type: "failed", error: { kind, message: `it is ${kind}`, ...more } };
}

export function texts(messages: readonly ModelMessage[]): string[] {
  return messages.map(textOfMessage);
}

function textOfMessage(message: ModelMessage): string {
  switch (message.role) {
    case "user":
      return `user: ${contentText(message.content)}`;
    case "assistant":
      return `assistant: ${[message.text, ...message.calls.map(({ name }) => `<${name}>`)].join("")}`;
    case "tool":
      return `tool: ${message.results.map(({ content }) => contentText(content)).join(" | ")}`;
  }
}

function contentText(content: readonly { type: string }[]): string {
  return content.map((block) => ("text" in block ? String(block.text) : block.type)).join(" / ");
}

export interface StageOptions extends Partial<Omit<LoopOptions, "session" | "models">> {
  readonly tools?: readonly AnyTool[];
  readonly sources?: readonly ToolSource[];
  readonly config?: ConfigInput;
  readonly sessionOptions?: SessionOptions;
  readonly spy?: SpyOptions;
  /** Of the ids that the runtime gives. */
  readonly idPrefix?: string;
  /** In place of the written one. */
  readonly models?: (clock: HeldClock) => readonly [Model, ...Model[]];
  /** Further models, made on the same clock. */
  readonly others?: (clock: HeldClock) => readonly Model[];
}

export interface LoopStage {
  readonly clock: HeldClock;
  readonly session: Session;
  readonly journal: SpyJournal;
  readonly model: WrittenModel;
  readonly conversation: Conversation;
  /** Moves time on until the run has ended. */
  finish(run: LoopRun): Promise<RunEnd>;
  ask(prompt: string): Promise<RunEnd>;
  facts<T extends FactType = FactType>(...types: T[]): Fact<T>[];
  story(...prefixes: string[]): FactType[];
}

export async function openStage(
  answers: readonly Answer[] | ((clock: HeldClock) => readonly Answer[]),
  options: StageOptions = {},
): Promise<LoopStage> {
  const {
    tools = [],
    sources = [],
    config,
    sessionOptions,
    spy,
    idPrefix = "",
    models,
    others,
    ...loop
  } = options;
  const clock = createHeldClock(Date.UTC(2026, 0, 1));
  const journal = createSpyJournal(spy);
  let count = 0;
  const ids = { next: (kind: string) => `${idPrefix}${kind}_${(count += 1)}` };
  const kernel = createKernel({
    tools,
    sources,
    clock,
    ids,
    config,
  });
  const session = await kernel.openSession({
    session_id: "s1",
    journal,
    artifacts: createMemoryArtifacts(),
    ...sessionOptions,
  });
  const model = writtenModel(clock, typeof answers === "function" ? answers(clock) : answers);
  const conversation = await openConversation({
    session,
    models: models?.(clock) ?? [model, ...(others?.(clock) ?? [])],
    clock,
    ids,
    ...loop,
  });
  return {
    clock,
    session,
    journal,
    model,
    conversation,
    finish: (run) => driven(clock, run.end),
    ask: (prompt) => driven(clock, conversation.send(prompt).end),
    facts: (...types) => factsOfTypes(journal.facts, ...types),
    story: (...prefixes) =>
      journal.facts
        .map(({ type }) => type)
        .filter((type) => prefixes.some((prefix) => type.startsWith(prefix))),
  };
}

/** Moves time on until the work has settled, for an hour at the most. */
export async function driven<T>(clock: HeldClock, work: Promise<T>): Promise<T> {
  const state = { open: true };
  const close = (): void => {
    state.open = false;
  };
  work.then(close, close);
  await clock.settle();
  for (let passed = 0; state.open && passed < 3600; passed += 1) await clock.advance(1000);
  if (state.open) throw new Error("it has not happened within an hour");
  return work;
}

export async function allEvents(run: LoopRun): Promise<LoopEvent[]> {
  const events: LoopEvent[] = [];
  for await (const event of run.events()) events.push(event);
  return events;
}
