// What the bridge reads of the SDK's objects. Models of the specifications v2, v3 and v4 are alike in it.

/** A language model of a provider's package. */
export interface PeerModel {
  readonly specificationVersion: string;
  readonly doGenerate: (options: never) => PromiseLike<unknown>;
  readonly doStream: (options: never) => PromiseLike<unknown>;
}

/** What the SDK sends to a model. */
export interface ModelRequest {
  readonly prompt: readonly PromptMessage[];
  readonly tools?: readonly OfferedTool[] | undefined;
  readonly toolChoice?: { readonly type: string; readonly toolName?: string } | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

export interface PromptMessage {
  readonly role: string;
  readonly content: string | readonly PromptPart[];
}

export interface PromptPart {
  readonly type: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type: string; readonly value?: unknown; readonly reason?: string };
}

export interface OfferedTool {
  readonly type: string;
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
}

/** Of a whole answer, or of a streamed one. */
export interface AnswerPart {
  readonly type: string;
  /** Of the pieces of an input. */
  readonly id?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  /** Of a call: the model's own text. */
  readonly input?: unknown;
  readonly providerExecuted?: boolean | undefined;
  readonly finishReason?: unknown;
}

export interface WholeAnswer {
  readonly content: readonly AnswerPart[];
  readonly finishReason: unknown;
}

export interface StreamedAnswer {
  readonly stream: ReadableStream<AnswerPart>;
}
