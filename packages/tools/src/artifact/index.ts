// The artifact module: how a model pages and searches what was cut from a result, with no path in hand.

export { readArtifactTool } from "./read-artifact.ts";
