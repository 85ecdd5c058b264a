// `soong memory`: what is remembered from earlier work.

import type { CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "memory",
  summary: "what is remembered from earlier work: list it, add to it, take from it",
  examples: ["soong memory list", "soong memory extract", "soong memory forget ID"],
  subcommands: {
    list: () => import("./list.ts"),
    extract: () => import("./extract.ts"),
    forget: () => import("./forget.ts"),
  },
};
