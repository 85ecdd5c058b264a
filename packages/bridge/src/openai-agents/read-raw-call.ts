// The provider's own events in a stream of the SDK: those of the Responses API have each call as soon as its arguments are
// complete. Other models have calls at the end of the answer only.

import { isRecord } from "@soong/schema";
import type { StreamedCall } from "../kernel/index.ts";

/** Undefined: the event is not the end of a call. */
export function readRawCall(event: object): StreamedCall | undefined {
  if (!isRecord(event) || event["type"] !== "model") return undefined;
  const raw = event["event"];
  if (!isRecord(raw) || raw["type"] !== "response.output_item.done") return undefined;
  const { item } = raw;
  if (!isRecord(item) || item["type"] !== "function_call") return undefined;
  const { call_id: id, name, arguments: text } = item;
  const isCall = typeof id === "string" && typeof name === "string" && typeof text === "string";
  return isCall ? { id, name, arguments: text } : undefined;
}
