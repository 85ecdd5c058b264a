// The interface of every model (MODEL-1): one request in, a stream of events out. Loop and tools know
// nothing else of a model.

import type { AnyHook, ContentBlock, JsonObject, ModelProfile, ModelTool } from "@soong/core";
import type { ModelError } from "./model-error.ts";
import type { ModelUsage, ModelPrices } from "./prices.ts";

export interface Model {
  /** `provider:model`, or `script:FILE`. */
  readonly id: string;
  readonly profile: ModelProfile;
  /** Without it, the cost of its answers is not known (EVENT-7). */
  readonly prices?: ModelPrices;
  /** Hooks for the session: a script may say what guards answer to its calls. */
  readonly hooks?: readonly AnyHook[];
  /**
   * One answer, event by event; ends after `completed` or `failed`. Never throws: what goes wrong is an
   * event. When the signal fires the stream ends, with `failed` of kind `aborted`.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export interface ModelRequest {
  /** Which request of its run this is, from 1. */
  readonly index: number;
  /** The run that asks; its requests are counted by `index`. */
  readonly run_id?: string;
  /** Whose run asks: a scripted model has turns for each. */
  readonly agent_definition_id?: string;
  readonly system: readonly string[];
  readonly messages: readonly ModelMessage[];
  /** Under the names of the wire. */
  readonly tools: readonly ModelTool[];
  readonly max_output_tokens?: number;
}

export type ModelMessage = UserMessage | AssistantMessage | ToolMessage;

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly ContentBlock[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** What the provider wants to see again with this message, such as signatures of its reasoning. */
  readonly provider_data?: JsonObject;
}

/** All results of the calls of the assistant message before it, in call order. */
export interface ToolMessage {
  readonly role: "tool";
  readonly results: readonly ModelResult[];
}

export interface ModelCall {
  readonly tool_call_id: string;
  /** As the model sent it. */
  readonly name: string;
  readonly arguments: string;
}

export interface ModelResult {
  readonly tool_call_id: string;
  readonly name: string;
  readonly content: readonly ContentBlock[];
  readonly is_error: boolean;
}

export type ModelEvent =
  | { readonly type: "text_delta"; readonly text: string }
  /** What it thinks aloud: a sign of life that counts for the length of the answer, and is no part of it. */
  | { readonly type: "reasoning_delta"; readonly text: string }
  /** A piece of a call's arguments. `key` distinguishes the calls of one answer; the name may come first or late. */
  | {
      readonly type: "call_delta";
      readonly key: string;
      readonly name?: string;
      readonly arguments: string;
    }
  /** Its arguments are complete, whether or not they are valid: it may start now. */
  | {
      readonly type: "call_complete";
      readonly key: string;
      /** The provider's own; absent where it gives none (MODEL-3). */
      readonly id?: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: "completed";
      readonly stop: StopReason;
      readonly usage: ModelUsage;
      readonly provider_data?: JsonObject;
    }
  | { readonly type: "failed"; readonly error: ModelError; readonly usage?: ModelUsage };

export type StopReason = "end_turn" | "tool_use" | "max_tokens" | "refused" | "other";
