// The script module: models whose answers are written in advance (SCRIPT). A script is checked when it is
// read, and then plays behind the model port like any other model.

export {
  loadScript,
  ScriptError,
  parseScript,
  printScript,
  type ParsedScript,
} from "./check-script.ts";
export type * from "./script.ts";
export { scriptedModel, type ScriptedModelOptions } from "./scripted-model.ts";
