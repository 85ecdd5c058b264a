// The shapes that Mastra takes and gives, as far as the bridge uses them: assignable to its own types, without importing them.

import type { JsonObject } from "@soong/core";

/** What `createTool` makes of it goes into `new Agent({ tools })`. */
export interface MastraTool {
  readonly id: string;
  readonly description: string;
  readonly inputSchema: MastraSchema;
  readonly requireApproval?: (input: unknown) => Promise<boolean>;
  /** Mastra continues with this call: it asks for approval next, or executes it. */
  readonly onInputAvailable?: (call: MastraAvailableInput) => void;
  execute(input: unknown, context: MastraToolContext): Promise<MastraToolOutput>;
  toModelOutput(output: MastraToolOutput): MastraModelOutput;
}

export interface MastraAvailableInput {
  readonly toolCallId: string;
  readonly input: unknown;
}

/** Standard Schema with its JSON Schema. It accepts any value, as the kernel validates. */
export interface MastraSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { value: unknown };
    readonly jsonSchema: {
      readonly input: () => JsonObject;
      readonly output: () => JsonObject;
    };
  };
}

export interface MastraToolContext {
  readonly agent?: { readonly toolCallId?: string };
  readonly abortSignal?: AbortSignal;
  readonly writer?: { write(chunk: object): Promise<void> };
}

/** What the application gets of a call; the model gets the same as text and images. */
export interface MastraToolOutput {
  readonly text: string;
  readonly images?: readonly { readonly data: string; readonly media_type: string }[];
}

export type MastraModelOutput =
  | { type: "text"; value: string }
  | { type: "content"; value: MastraContentPart[] };

export type MastraContentPart =
  | { type: "text"; text: string }
  | { type: "media"; data: string; mediaType: string };

/** A model as Mastra passes it to `prepareStep`: both ways give a stream. */
export interface MastraModel {
  readonly provider: string;
  doGenerate(request: MastraRequest): PromiseLike<MastraAnswer>;
  doStream(request: MastraRequest): PromiseLike<MastraAnswer>;
}

export interface MastraRequest {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly name?: string }[];
  readonly abortSignal?: AbortSignal;
}

export interface MastraAnswer {
  readonly stream: ReadableStream<MastraStreamPart>;
}

export interface MastraStreamPart {
  readonly type: string;
}

export interface MastraStepArgs {
  readonly model: MastraModel;
  readonly tools?: Readonly<Record<string, unknown>>;
  readonly activeTools?: readonly string[];
}

export interface MastraStep<M> {
  model: M;
  tools: Record<string, unknown>;
  activeTools: string[];
}
