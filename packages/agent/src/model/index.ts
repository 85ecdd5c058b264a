// The model room: what a model is to everybody else, and how it fails.

export * from "./model-error.ts";
export type * from "./port.ts";
