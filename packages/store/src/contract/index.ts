// The contract module: what a store is and how it fails, for those who build one and those who use one.

export * from "./crash-point.ts";
export type * from "./question-storage.ts";
export * from "./store-error.ts";
export type * from "./store.ts";
