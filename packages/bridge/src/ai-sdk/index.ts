// @soong/bridge/ai-sdk: the kernel under the loops of the Vercel AI SDK 6 and 7. It owns the tools that the SDK executes, and
// the model in front of the SDK's own, which hands each call to the kernel while the answer still streams. Imports nothing of
// the SDK: its tools and models are plain objects.

export { bridgeAiSdk, type AiSdkBridge, type AiSdkOptions } from "./bridge-ai-sdk.ts";
export type { BridgedOutput } from "./bridged-output.ts";
export type { BridgedTool, ToolApproval } from "./create-tools.ts";
export type { InputSchema } from "./input-schema.ts";
export type { PeerModel } from "./peer-types.ts";
export type { ModelOutput, ModelOutputPart } from "./to-model-output.ts";
