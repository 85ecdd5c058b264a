// The declarative module: tools a user declares in JSON files in the agent's home. It reads the files, fills
// values into command lines without letting them become anything else, and runs the commands.

export { describeProblem, type Problem } from "@soong/platform";
export { checkDeclarativeTool, type CheckedTool, type CheckOptions } from "./check-tool.ts";
export { variableName } from "./declaration.ts";
export {
  loadDeclarativeTools,
  type DeclarativeToolsOptions,
  type LoadedTools,
} from "./load-tools.ts";
export { ownProgramProblem } from "./own-program.ts";
