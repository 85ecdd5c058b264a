// The chain module: how a fact and its nodes become the text that is kept, hashed and linked, and the check
// that finds the first fact someone touched (EVENT-6). Reads and writes nothing.

export * from "./chain-check.ts";
export * from "./chain-line.ts";
