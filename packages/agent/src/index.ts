// @soong/agent: the small loop over any model.

export * from "./child/index.ts";
export { describeDocumentProblem, type DocumentProblem } from "./document/index.ts";
export * from "./drive/index.ts";
export * from "./loop/index.ts";
export * from "./memory/index.ts";
export * from "./model/index.ts";
export * from "./provider/index.ts";
export * from "./replay/index.ts";
export * from "./script/index.ts";
export * from "./skill/index.ts";
export * from "./task/index.ts";
