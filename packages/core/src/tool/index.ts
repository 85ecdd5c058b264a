// The tool module: what a tool is, what it says of itself, what it is given and what it answers.
// Types and plain functions; it touches nothing and knows no registry.

export type * from "./context.ts";
export * from "./define-tool.ts";
export * from "./definition.ts";
export * from "./digest.ts";
export * from "./effects.ts";
export * from "./errors.ts";
export * from "./name.ts";
export type * from "./plan.ts";
export * from "./result.ts";
export * from "./sandbox.ts";
export * from "./primary-argument.ts";
