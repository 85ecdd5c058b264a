// @soong/bridge/mastra: the kernel under Mastra's agents. It owns the tools, and the step options that offer what is loaded and let
// every call of an answer reach them.

export { bridgeMastra, type MastraBridge, type MastraOptions } from "./bridge-mastra.ts";
export type {
  MastraModel,
  MastraModelOutput,
  MastraStep,
  MastraStepArgs,
  MastraTool,
  MastraToolContext,
  MastraToolOutput,
} from "./types.ts";
