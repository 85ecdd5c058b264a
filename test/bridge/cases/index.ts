// All cases, in the order of the table.

import { approvalCases } from "./approvals.ts";
import { argumentCases } from "./arguments.ts";
import type { Case } from "./case.ts";
import { hookCases } from "./hooks.ts";
import { orderCases } from "./order.ts";
import { recordCases } from "./record.ts";
import { resultCases } from "./results.ts";

export const CASES: readonly Case[] = [
  ...argumentCases,
  ...approvalCases,
  ...orderCases,
  ...resultCases,
  ...hookCases,
  ...recordCases,
];
