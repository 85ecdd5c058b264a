// Runs and their tools: scheduler policies, profiles, declarations, surfaces.

import { startRun } from "./open-run.ts";
import type { Mappers } from "./mapper.ts";
import { readCount, readSomeTexts } from "../projection/read-fields.ts";
import { resolveSurface } from "./tool-surfaces.ts";

type RunFactType =
  | "run.started"
  | "run.completed"
  | "run.failed"
  | "run.aborted"
  | "tool.catalog.resolved"
  | "tool.deferred.loaded";

export const RUN_RECORDS: Mappers<RunFactType> = {
  "run.started": (data, state, fact) => startRun(state.findRun(fact), data, state.writer),
  "run.completed": (_, state, fact) => state.endRun(fact),
  "run.failed": (_, state, fact) => state.endRun(fact),
  "run.aborted": (_, state, fact) => state.endRun(fact),
  "tool.catalog.resolved": (data, state, fact) =>
    resolveSurface(state.findRun(fact), data, state.tools, state.writer),
  "tool.deferred.loaded": ({ tools, surface_revision }, state, fact) => {
    const run = state.findRun(fact);
    const revision = readCount(surface_revision);
    const isKnown = revision !== undefined && run.revisions.has(revision);
    for (const name of readSomeTexts(tools) ?? []) {
      state.tools.load(name, isKnown ? run.nameSurface(revision) : undefined, state.writer);
    }
  },
};
