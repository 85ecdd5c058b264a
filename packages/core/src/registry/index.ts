// The registry module: every registered tool, where it came from, and the definition as it was checked.
// It does not know who may see or call a tool.

export * from "./describe-definitions.ts";
export * from "./registered-tool.ts";
export * from "./registry.ts";
