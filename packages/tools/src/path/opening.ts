// How a judged path is pinned down on this platform (PATH-1): the one seam between "through handles"
// (Linux) and "by name, best effort" (elsewhere), so that both are tested on either.

import { existsSync } from "node:fs";

import { openingByHandle } from "./opening-by-handle.ts";
import { openingByName } from "./opening-by-name.ts";
import type { Opening } from "./pinned-node.ts";

export const platformOpening: Opening =
  process.platform === "linux" && existsSync("/proc/self/fd") ? openingByHandle : openingByName;
