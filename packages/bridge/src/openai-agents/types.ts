// The shapes that the SDK takes and gives, as far as the bridge uses them: assignable to its own types, without importing them.

import type { JsonObject } from "@soong/core";

/** A function tool. Pass it to `new Agent({ tools })`. */
export interface AgentsTool {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  readonly parameters: AgentsParameters;
  readonly strict: false;
  needsApproval(context: AgentsRunContext, input: unknown, callId?: string): Promise<boolean>;
  isEnabled(): Promise<boolean>;
  invoke(
    context: AgentsRunContext,
    input: string,
    details?: AgentsCallDetails,
  ): Promise<AgentsToolOutput>;
}

/** As the SDK types a JSON Schema that is not strict. */
export interface AgentsParameters {
  type: "object";
  properties: Record<string, JsonObject>;
  required: string[];
  additionalProperties: true;
}

export interface AgentsCallDetails {
  readonly toolCall?: { readonly callId: string };
  readonly signal?: AbortSignal;
}

/** Text, or text and images. */
export type AgentsToolOutput = string | AgentsOutputPart[];

export type AgentsOutputPart =
  | { type: "text"; text: string }
  | { type: "image"; image: { data: string; mediaType: string } };

export interface AgentsRunContext {
  isToolApproved(approval: { toolName: string; callId: string }): boolean | undefined;
}

export interface AgentsModel {
  getResponse(request: AgentsRequest): Promise<AgentsResponse>;
  getStreamedResponse(request: AgentsRequest): AsyncIterable<object>;
}

export interface AgentsRequest {
  readonly input: string | readonly object[];
  readonly tools: readonly { readonly name: string; readonly parameters?: unknown }[];
  readonly handoffs: readonly { readonly toolName: string }[];
  readonly previousResponseId?: string;
  readonly conversationId?: string;
  readonly signal?: AbortSignal;
}

export interface AgentsResponse {
  readonly output: readonly object[];
}

/** Options of `run()`, and of `new Runner()`. */
export interface AgentsRunOptions {
  readonly toolNotFoundBehavior: "return_error_to_model";
  toolErrorFormatter(error: AgentsToolError): Promise<string | undefined>;
}

export interface AgentsToolError {
  readonly kind: string;
  readonly toolName: string;
  readonly callId: string;
}
