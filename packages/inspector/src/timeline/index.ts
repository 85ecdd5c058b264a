// The timeline module: what facts say of runs and calls, worked out. Reads and writes nothing.

export { callStory } from "./call-story.ts";
export { conversation } from "./conversation.ts";
export { findDefinitions } from "./definitions.ts";
export { factLine } from "./fact-line.ts";
export { searchSurface } from "./search-surface.ts";
export { surfaceView } from "./surface-view.ts";
export { createTimeline } from "./timeline.ts";
