// The wire module: what the server and the page say to each other, as types. Records are snake_case JSON. The page imports
// nothing else of ours, but for how core writes out what a reader could not see.

export type * from "./call.ts";
export type * from "./changes.ts";
export type * from "./playground.ts";
export type * from "./questions.ts";
export type * from "./routes.ts";
export type * from "./servers.ts";
export type * from "./sessions.ts";
export type * from "./surface.ts";
export type * from "./tasks.ts";
export type * from "./timeline.ts";
export type * from "./what-if.ts";
