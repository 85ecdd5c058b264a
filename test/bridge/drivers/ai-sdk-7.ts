// Version 7 of the Vercel AI SDK, with its package for Anthropic: of the common formats the one that marks failures and takes
// images in results.

import { createAnthropic } from "@ai-sdk/anthropic";
import { bridgeAiSdk } from "@soong/bridge/ai-sdk";
import {
  dynamicTool,
  generateText,
  isStepCount,
  jsonSchema,
  streamText,
  toolSearch,
  type LanguageModel,
  type ModelMessage,
  type ToolApprovalConfiguration,
  type ToolSet,
} from "ai";
import type { Driver, Scenario } from "../scenario.ts";
import {
  executeBare,
  needsUser,
  playLoop,
  wireName,
  type Answer,
  type AskRequest,
} from "./ai-sdk/play-loop.ts";

export const driver: Driver = {
  peer: "Vercel AI SDK 7.0.170",
  play: (play) => playLoop({ ask, createMessage: (message): ModelMessage => message }, play),
};

interface Loop {
  readonly model: LanguageModel;
  readonly tools: ToolSet;
  readonly toolApproval: ToolApprovalConfiguration<ToolSet, unknown>;
}

async function ask(request: AskRequest<ModelMessage>): Promise<Answer<ModelMessage>> {
  const { play, messages, onProgress } = request;
  const options = {
    ...(await createLoop(request)),
    messages,
    stopWhen: isStepCount(20),
    abortSignal: play.signal,
    maxRetries: 0,
  };
  if (play.scenario.stream !== true) {
    const { content, responseMessages } = await generateText(options);
    return { messages: responseMessages, requests: content.flatMap(readRequest) };
  }
  const result = streamText({ ...options, onError: () => {} });
  for await (const part of result.stream) {
    if (part.type === "tool-result" && part.preliminary === true) onProgress(part.output);
    if (part.type === "error") throw part.error;
  }
  return {
    messages: await result.responseMessages,
    requests: (await result.content).flatMap(readRequest),
  };
}

async function createLoop({ play, run: opened }: AskRequest<ModelMessage>): Promise<Loop> {
  const { scenario, url } = play;
  const model = createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })("scripted");
  if (opened === undefined) return { model, ...defineBareTools(scenario) };
  const { run, approvals } = opened;
  const soong = await bridgeAiSdk(run, approvals && { approvals });
  return { model: soong.model(model), tools: soong.tools, toolApproval: soong.toolApproval };
}

function defineBareTools(scenario: Scenario): Omit<Loop, "model"> {
  const { tools } = scenario;
  const defined: [string, unknown][] = tools.map((tool) => [
    wireName(tool),
    dynamicTool({
      description: tool.description,
      inputSchema: jsonSchema(tool.input_schema),
      deferLoading: tool.defer === true,
      execute: (input, { abortSignal }) => executeBare(tool.run, input, abortSignal),
    }),
  ]);
  if (tools.some(({ defer }) => defer)) defined.push(["internal__search_tools", toolSearch()]);
  const asking = tools.filter((tool) => needsUser(scenario, tool));
  return {
    tools: Object.fromEntries(defined) as ToolSet,
    toolApproval: Object.fromEntries(asking.map((tool) => [wireName(tool), "user-approval"])),
  };
}

function readRequest(
  part: { type: string } & Partial<{ approvalId: string; toolCall: { toolName: string } }>,
): Answer<never>["requests"][number][] {
  const { type, approvalId = "", toolCall } = part;
  return type === "tool-approval-request"
    ? [{ approvalId, toolName: toolCall?.toolName ?? "" }]
    : [];
}
