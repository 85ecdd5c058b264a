// Version 6 of the Vercel AI SDK, with its package for Anthropic.

import { createAnthropic } from "@ai-sdk/anthropic";
import { bridgeAiSdk } from "@soong/bridge/ai-sdk";
import {
  dynamicTool,
  generateText,
  jsonSchema,
  stepCountIs,
  streamText,
  type LanguageModel,
  type ModelMessage,
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
  peer: "Vercel AI SDK 6.0.326",
  play: (play) => playLoop({ ask, createMessage: (message): ModelMessage => message }, play),
};

async function ask(request: AskRequest<ModelMessage>): Promise<Answer<ModelMessage>> {
  const { play, messages, onProgress } = request;
  const options = {
    ...(await createLoop(request)),
    messages,
    stopWhen: stepCountIs(20),
    abortSignal: play.signal,
    maxRetries: 0,
  };
  if (play.scenario.stream !== true) {
    const { content, response } = await generateText(options);
    return { messages: response.messages, requests: content.flatMap(readRequest) };
  }
  const result = streamText({ ...options, onError: () => {} });
  for await (const part of result.fullStream) {
    if (part.type === "tool-result" && part.preliminary === true) onProgress(part.output);
    if (part.type === "error") throw part.error;
  }
  return {
    messages: (await result.response).messages,
    requests: (await result.content).flatMap(readRequest),
  };
}

async function createLoop({
  play,
  run: opened,
}: AskRequest<ModelMessage>): Promise<{ model: LanguageModel; tools: ToolSet }> {
  const { scenario, url } = play;
  const model = createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })("scripted");
  if (opened === undefined) return { model, tools: defineBareTools(scenario) };
  const { run, approvals } = opened;
  const soong = await bridgeAiSdk(run, approvals && { approvals });
  return { model: soong.model(model), tools: soong.tools };
}

function defineBareTools(scenario: Scenario): ToolSet {
  const defined = scenario.tools.map((tool) => [
    wireName(tool),
    dynamicTool({
      description: tool.description,
      inputSchema: jsonSchema(tool.input_schema),
      needsApproval: needsUser(scenario, tool),
      execute: (input, { abortSignal }) => executeBare(tool.run, input, abortSignal),
    }),
  ]);
  return Object.fromEntries(defined) as ToolSet;
}

function readRequest(
  part: { type: string } & Partial<{ approvalId: string; toolCall: { toolName: string } }>,
): Answer<never>["requests"][number][] {
  const { type, approvalId = "", toolCall } = part;
  return type === "tool-approval-request"
    ? [{ approvalId, toolName: toolCall?.toolName ?? "" }]
    : [];
}
