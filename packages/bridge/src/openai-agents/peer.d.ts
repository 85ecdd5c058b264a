// What is used of the SDK, so that this package compiles without it.

declare module "@openai/agents" {
  export function tool(options: {
    name: string;
    description: string;
    parameters: object;
    strict: false;
    needsApproval: boolean;
    execute: () => string;
  }): { needsApproval: () => Promise<boolean> };
}
