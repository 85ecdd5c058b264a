// A session behind the gateway, with a tool for every kind of end; in this process, or as a program of its own
// that serves it over a pipe.

import {
  createKernel,
  createMemoryJournal,
  defineTool,
  toolResult,
  type AnyTool,
  type AskPermission,
  type Kernel,
  type MemoryJournal,
  type PolicyInput,
  type Session,
  type SessionOptions,
} from "@soong/core";
import { readArtifactTool } from "@soong/tools";
import { createGatewayBroker, type GatewayBroker } from "../../packages/mcp/src/gateway/broker.ts";
import { serveGatewayStdio } from "../../packages/mcp/src/gateway/serve-stdio.ts";

export const IDENTITY = { name: "soong", version: "0.0.1" };

export interface Stage {
  readonly kernel: Kernel;
  readonly session: Session;
  readonly broker: GatewayBroker;
  readonly journal: MemoryJournal;
  readonly server: typeof IDENTITY;
  /** What note.write was allowed to write. */
  readonly written: string[];
  /** Resolves when note.wait runs, and says how it was ended. */
  readonly waiting: { started: Promise<void>; ended: Promise<string> };
}

export interface StageOptions {
  readonly ask?: AskPermission;
  readonly policy?: PolicyInput;
  readonly more?: readonly AnyTool[];
  /** Where the session is stored; default: in memory, in the journal of the stage. */
  readonly stored?: SessionOptions;
}

export async function setStage(options: StageOptions = {}): Promise<Stage> {
  const written: string[] = [];
  let start = (): void => {};
  let end = (_how: string): void => {};
  const waiting = {
    started: new Promise<void>((resolve) => {
      start = resolve;
    }),
    ended: new Promise<string>((resolve) => {
      end = resolve;
    }),
  };
  const journal = createMemoryJournal();
  const tools = [...noteTools(written), waitTool(start, end), ...(options.more ?? [])];
  const kernel = createKernel({
    tools,
    sources: [{ id: "artifacts", kind: "internal", tools: [readArtifactTool()] }],
  });
  const broker = createGatewayBroker(options.ask === undefined ? {} : { ask: options.ask });
  const session = await kernel.openSession({
    ...(options.stored ?? { journal }),
    ask: broker.ask,
    elicit: broker.elicit,
    ...(options.policy === undefined ? {} : { policy: options.policy }),
  });
  return { kernel, session, broker, journal, server: IDENTITY, written, waiting };
}

/** The program of the stdio tests. */
export async function serveStage(): Promise<void> {
  const stage = await setStage();
  await serveGatewayStdio(stage).ended;
  const calls = stage.journal.facts.filter(({ type }) => type === "tool.requested").length;
  process.stderr.write(`served ${calls} calls, wrote ${stage.written.join(",")}\n`);
}

function noteTools(written: string[]): AnyTool[] {
  const anything = { type: "object" } as const;
  const withText = {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  } as const;
  return [
    defineTool({
      name: "note.read",
      title: "Read notes",
      description: "Reads notes",
      input_schema: withText,
      permission: "readonly",
      concurrency_safe: true,
      handler: ({ text }) => ({ text, length: text.length }),
    }),
    defineTool({
      name: "note.write",
      description: "Writes a note",
      input_schema: withText,
      destructive: false,
      prepare: ({ text }) => ({
        preview: { kind: "text", text: `would write: ${text}` },
        resources: [],
      }),
      handler({ text }) {
        written.push(text);
        return `wrote ${text}`;
      },
    }),
    defineTool({
      name: "note.long",
      description: "A result that is too long",
      input_schema: anything,
      permission: "readonly",
      handler: () => `begin ${"é".repeat(30_000)} end`,
    }),
    defineTool({
      name: "note.rows",
      description: "Words, and data and an artifact beside them",
      input_schema: anything,
      permission: "readonly",
      handler: (_input, context) =>
        context.artifacts.write("kept", { media_type: "text/plain" }).then((kept) =>
          toolResult({
            content: [{ type: "text", text: "two rows" }],
            data: { rows: [1, 2] },
            artifacts: [kept],
          }),
        ),
    }),
    defineTool({
      name: "note.picture",
      description: "Blocks of other kinds",
      input_schema: anything,
      permission: "readonly",
      handler: () =>
        toolResult({
          content: [
            { type: "image", media_type: "image/png", data: "aGk=" },
            { type: "resource_link", uri: "file:///notes.txt", media_type: "text/plain" },
          ],
        }),
    }),
    defineTool({
      name: "note.count",
      description: "Reports progress",
      input_schema: anything,
      permission: "readonly",
      handler(_input, { progress }) {
        progress({ message: "one", progress: 1, total: 3 });
        progress({ message: "again", progress: 1, total: 3 });
        progress({ message: "two", progress: 2, total: 3 });
        return [1, 2, 3];
      },
    }),
    defineTool({
      name: "note.ask",
      description: "Asks its user something itself",
      input_schema: anything,
      permission: "readonly",
      async handler(_input, { elicit }) {
        const answer = await elicit({
          mode: "form",
          message: "Which colour?",
          requested_schema: { type: "object", properties: { colour: { type: "string" } } },
        });
        return { action: answer.action, colour: answer.content?.["colour"] ?? null };
      },
    }),
    defineTool({
      name: "note.hidden_treasure_with_quite_a_long_name_of_its_own",
      description: "Finds the treasure. Nobody else knows.",
      input_schema: withText,
      permission: "readonly",
      defer: true,
      handler: ({ text }) => `found ${text}`,
    }),
  ];
}

function waitTool(started: () => void, ended: (how: string) => void): AnyTool {
  return defineTool({
    name: "note.wait",
    description: "Waits until it is told to stop",
    input_schema: { type: "object" },
    permission: "readonly",
    concurrency_safe: true,
    handler: (_input, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          ended(String(signal.reason));
          resolve("stopped");
        });
        started();
      }),
  });
}
