// The wire module: what the server and the page say to each other, as types. Records are snake_case JSON. The page imports
// nothing else of ours, but for how core writes out what a reader could not see.

export type * from "./home-records.ts";
export type * from "./routes.ts";
export type * from "./session-records.ts";
