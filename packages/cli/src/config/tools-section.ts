// The section `tools`: which tools there are, how long they may take, and how much they may touch.

import { kernelConfig } from "@soong/core";
import type { Table } from "./definition.ts";
import { SENSITIVE_PATHS } from "./policy-shapes.ts";
import type { SoongConfig, ToolOverride } from "./soong-config.ts";
import {
  choice,
  DIRECTORY,
  ENVIRONMENT_NAME,
  FLAG,
  milliseconds,
  texts,
  TOOL_PATTERN,
  wholeNumber,
} from "./value-kinds.ts";

const { tools } = kernelConfig();

const override: Table<ToolOverride> = {
  says: "What is different for the tools a pattern fits.",
  keys: {
    timeout_ms: {
      says: "How long a call may take. The model cannot ask for more.",
      kind: milliseconds(),
      default: undefined,
    },
    readonly: {
      says: "You vouch that these tools of an MCP server change nothing. Patterns that begin with `mcp.` only.",
      kind: FLAG,
      default: undefined,
    },
  },
};

export const toolsSection: Table<SoongConfig["tools"]> = {
  says: "Which tools there are, how long they may take, and how much they may touch.",
  keys: {
    disabled: {
      says: "Tools that are not offered.",
      kind: texts(TOOL_PATTERN),
      default: tools.disabled,
    },
    default_timeout_ms: {
      says: "How long a call may take when neither the tool nor the model says; also a command.",
      kind: milliseconds(),
      default: tools.default_timeout_ms,
    },
    max_timeout_ms: {
      says: "The longest any call may take.",
      kind: milliseconds(),
      default: tools.max_timeout_ms,
    },
    inline_limit_bytes: {
      says: "How much of a result the model is sent; the rest is kept as an artifact.",
      kind: wholeNumber(0, 64 * 1024 * 1024),
      default: tools.inline_limit_bytes,
    },
    max_arguments_bytes: {
      says: "How large the arguments of a call may be.",
      kind: wholeNumber(1, 64 * 1024 * 1024),
      default: tools.max_arguments_bytes,
    },
    max_arguments_depth: {
      says: "How deeply they may be nested.",
      kind: wholeNumber(1, 512),
      default: tools.max_arguments_depth,
    },
    max_concurrency: {
      says: "How many readonly calls run at the same time.",
      kind: wholeNumber(1, 1000),
      default: tools.max_concurrency,
    },
    early_start: {
      says: "Which calls may start while the model still streams. `readonly`: those that leave nothing behind, inside or outside. `all`: also writes; an answer that breaks off after one is not asked for again.",
      kind: choice(["none", "readonly", "all"]),
      default: tools.early_start,
    },
    defer_budget_tokens: {
      says: "How many tokens the definitions of tools may cost before some are only found by search.",
      kind: wholeNumber(0, 100_000_000),
      default: tools.defer_budget_tokens,
    },
    cancel_grace_ms: {
      says: "How long a cancelled call may take to clean up.",
      kind: milliseconds(0),
      default: tools.cancel_grace_ms,
    },
    resolve_timeout_ms: {
      says: "How long a tool may take to say whether it is there, and what its instructions are.",
      kind: milliseconds(),
      default: tools.resolve_timeout_ms,
    },
    env_allowlist: {
      says: "Environment variables that commands see besides the harmless ones. Each is named in full.",
      kind: texts(ENVIRONMENT_NAME),
      default: [],
    },
    write_roots: {
      says: "Directories besides the project where writing is as ordinary as in it. Also accepted as `allowed_write_roots`.",
      kind: texts(DIRECTORY),
      default: [],
      aliases: ["allowed_write_roots"],
    },
    tmp_dir: {
      says: "Whether writing under the directory for temporary files (`TMPDIR`) is as ordinary as in the project.",
      kind: FLAG,
      default: false,
    },
    sensitive_paths: {
      says: "Globs of files that hold secrets, added to the built-in ones.",
      kind: {
        words: "list: name, glob below the project, `~/…` or absolute",
        shape: SENSITIVE_PATHS,
      },
      default: [],
    },
    overrides: {
      says: "Settings for single tools, by a pattern of their canonical names in quotes. Where several patterns fit, the longest counts.",
      nameProblem(name) {
        const problem = TOOL_PATTERN.problem(name);
        return problem === undefined || name.includes(".")
          ? problem
          : `${problem}; a name with dots needs quotes: [tools.overrides."code.run_command"]`;
      },
      each: override,
      example: ['[tools.overrides."code.run_command"]', "timeout_ms = 300_000"],
    },
  },
};
