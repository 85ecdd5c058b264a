// What this bridge uses of `langchain`, so that it compiles where the package is not installed.

declare module "langchain" {
  export interface AIMessage {
    readonly content: unknown;
    readonly id?: string;
    readonly name?: string;
    readonly additional_kwargs: object;
    readonly response_metadata: object;
    readonly usage_metadata?: object;
    readonly tool_calls?: readonly object[];
    readonly invalid_tool_calls?: readonly object[];
  }

  export const AIMessage: {
    new (fields: object): AIMessage;
    isInstance(value: unknown): value is AIMessage;
  };

  export interface ToolMessage {
    readonly tool_call_id: string;
    readonly name?: string;
    readonly content: string | readonly object[];
    readonly status?: "success" | "error";
  }

  export const ToolMessage: new (fields: ToolMessage) => ToolMessage;

  export function tool(
    execute: (input: unknown, config: unknown) => Promise<unknown>,
    fields: { name: string; description: string; schema: object },
  ): {
    readonly name: string;
    readonly description: string;
    readonly schema: object;
    invoke(input: unknown, config?: unknown): Promise<unknown>;
  };

  export function createMiddleware<Config extends { name: string }>(config: Config): Config;
}
