// The section `permissions`: rules (CONF-4) and what holds without one. What a rule may say is known to the
// kernel alone, which checks it.

import { shape } from "@soong/platform";
import type { Table } from "./definition.ts";
import { checkNetwork, RULES } from "./policy-shapes.ts";
import type { SoongConfig } from "./soong-config.ts";
import { choice, milliseconds } from "./value-kinds.ts";

export const permissionsSection: Table<SoongConfig["permissions"]> = {
  says: "What may happen unasked, what is asked about, and what never happens.",
  keys: {
    rules: {
      says: "Rules, one table each: `tool`, `tags`, `path`, `argv` and `host` say which calls, `decision` what becomes of them, `reason` why; `every_time` makes an ask that no grant answers, `exact_argv` an argv that is the whole command, `project` a rule for that directory alone. Any deny counts more than any allow.",
      kind: { words: "tables `[[permissions.rules]]`", shape: RULES },
      default: [],
      tables: [
        "[[permissions.rules]]",
        'tool = "code.run_command"        # exact, "code.*" or "mcp.github.*"',
        'argv = ["git", "status", "**"]   # the beginning of the command; "*" is one item, a last "**" any rest',
        'decision = "allow"               # "allow", "ask" or "deny"',
        'reason = "read-only git"',
        "",
        "[[permissions.rules]]",
        'path = "migrations/**"           # below the project, "~/…" or absolute',
        'tags = ["write"]                 # all of them',
        'decision = "deny"',
      ],
    },
    destructive: {
      says: "What becomes of a call that may destroy something. `deny` holds against every rule that allows.",
      kind: choice(["ask", "deny"]),
      default: "ask",
    },
    ask_timeout_ms: {
      says: "How long a question waits for its answer. Default: as long as it takes.",
      kind: milliseconds(),
      default: undefined,
      example: "300_000",
    },
    network: {
      says: "The network, for all tools.",
      together: checkNetwork,
      keys: {
        mode: {
          says: "`off`: none. `ask`: every use is asked about. `hosts`: the listed hosts and no others. `default`: asked about, but for the listed hosts.",
          kind: { words: '`"off"`, `"ask"`, `"hosts"`, `"default"`', shape: shape.anything },
          default: "default",
        },
        hosts: {
          says: "Host names, with `*.` before them for all below.",
          kind: { words: "list: host", shape: shape.anything },
          default: [],
        },
      },
    },
  },
};
