// What is used of Mastra, so that this package compiles without it.

declare module "@mastra/core/tools" {
  export function createTool<T extends object>(options: T): T;
}
