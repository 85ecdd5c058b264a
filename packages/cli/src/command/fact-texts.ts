// What every fact says: a type that no package describes does not compile here.

import { AGENT_FACT_TEXTS } from "@soong/agent";
import { KERNEL_FACT_TEXTS, type FactTexts } from "@soong/core";
import { MCP_FACT_TEXTS } from "@soong/mcp";
import { TASK_FACT_TEXTS } from "@soong/tasks";

export const FACT_TEXTS: FactTexts = {
  ...KERNEL_FACT_TEXTS,
  ...MCP_FACT_TEXTS,
  ...AGENT_FACT_TEXTS,
  ...TASK_FACT_TEXTS,
};
