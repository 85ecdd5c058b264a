// Every section and setting of the config (CONF-3): its meaning, what it may hold and its default. A new
// setting is one more entry here and one more field of SoongConfig.

import { kernelConfig } from "@soong/core";
import { agentsSection, taskSection } from "./agents-section.ts";
import type { Table } from "./definition.ts";
import { mcpSection } from "./mcp-section.ts";
import { memorySection } from "./memory-section.ts";
import { modelSection, modelsSection } from "./model-sections.ts";
import { permissionsSection } from "./permissions-section.ts";
import type { SoongConfig } from "./soong-config.ts";
import { toolsSection } from "./tools-section.ts";
import { choice, FLAG, milliseconds, plainText, text, wholeNumber } from "./value-kinds.ts";

const { hooks } = kernelConfig();

export const SECTIONS: Table<SoongConfig> = {
  says: "The config of Soong.",
  keys: {
    sandbox: {
      says: 'Whether commands run in a sandbox of the operating system. There is none yet, so that "required" refuses to start.',
      kind: choice(["off", "on", "required"]),
      default: "off",
      effect: "none_yet",
    },
    model: modelSection,
    models: modelsSection,
    tools: toolsSection,
    permissions: permissionsSection,
    hooks: {
      says: "Hooks; they themselves stand in hooks.json.",
      keys: {
        timeout_ms: {
          says: "How long a hook may take that sets no time of its own.",
          kind: milliseconds(),
          default: hooks.timeout_ms,
        },
      },
    },
    mcp: mcpSection,
    agents: agentsSection,
    task: taskSection,
    memory: memorySection,
    context: {
      says: "What is sent with a model request.",
      keys: {
        max_tokens: {
          says: "Above this the conversation is compacted before it is sent. Default: what the model can read.",
          kind: wholeNumber(1000, 100_000_000),
          default: undefined,
          example: "100_000",
        },
        instructions: {
          says: "Whether instruction files (AGENTS.md, else CLAUDE.md) of the user and the project, and those a call reads, are part of the system text.",
          kind: FLAG,
          default: true,
        },
        instruction_limit_bytes: {
          says: "How much of one instruction file is taken. All of them together may be four times as long.",
          kind: wholeNumber(256, 1_048_576),
          default: 32_768,
        },
      },
    },
    store: {
      says: "Where sessions are kept, and for how long.",
      keys: {
        url: {
          says: "The database that several machines share, without its password.",
          kind: text(plainText("address of a database")),
          default: undefined,
          effect: "none_yet",
          example: '"postgres://soong@db.example.org/soong"',
        },
        busy_timeout_ms: {
          says: "How long a command waits while another process holds the database.",
          kind: milliseconds(),
          default: 120_000,
        },
        retention: {
          says: "What is removed automatically. Default: nothing.",
          keys: {
            max_age_days: {
              says: "Sessions not used for longer are removed.",
              kind: wholeNumber(1, 36_500),
              default: undefined,
              example: "90",
            },
            max_bytes: {
              says: "The oldest sessions are removed until the rest is within this.",
              kind: wholeNumber(1, Number.MAX_SAFE_INTEGER),
              default: undefined,
              example: "10_000_000_000",
            },
          },
        },
      },
    },
  },
};
