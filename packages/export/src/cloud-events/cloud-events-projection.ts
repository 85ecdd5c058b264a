// Facts as CloudEvents 1.0 in their JSON format: each fact is one event, with its data, but no bytes in results.

import type { Fact } from "@soong/core";
import { isRecord } from "@soong/schema";
import { invocationId } from "../projection/invocation-id.ts";
import { omitResultBytes } from "../projection/omit-bytes.ts";
import type { Projection } from "../projection/projection.ts";
import { isTimestamp } from "../projection/timestamp.ts";
import { cleanAttribute, createPath } from "./attribute-text.ts";

/** Attributes that do not apply are undefined, and absent in JSON. */
export interface CloudEvent {
  readonly specversion: "1.0";
  /** The id of the fact: unique in its session, which is the source. */
  readonly id: string;
  /** `/soong/sessions/<session>` */
  readonly source: string;
  /** `soong.<type of the fact>` */
  readonly type: string;
  readonly time: string | undefined;
  /** `runs/<run>`, or `runs/<run>/calls/<call>` */
  readonly subject: string | undefined;
  readonly datacontenttype: "application/json";
  /** The documented extension: `seq`, in digits that sort as text. */
  readonly sequence: string | undefined;
  readonly runsequence: number | undefined;
  readonly level: string | undefined;
  readonly runid: string | undefined;
  readonly agentid: string | undefined;
  readonly parentrunid: string | undefined;
  readonly parentagentid: string | undefined;
  /** Agent Tool's `invocation_id`, and Agent Runtime's `toolCallId`. */
  readonly toolcallid: string | undefined;
  readonly toolname: string | undefined;
  readonly data: unknown;
}

/** One CloudEvent for each fact, of any type. */
export function createCloudEventsProjection(): Projection<CloudEvent> {
  /** Damaged facts that have no id. */
  let unnamed = 0;
  return {
    push(fact) {
      const given: unknown = fact;
      if (!isRecord(given) || typeof given["type"] !== "string" || given["type"] === "") return [];
      const id = cleanAttribute(fact.id) ?? `unnamed-${(unnamed += 1)}`;
      return [createEvent(fact, id)];
    },
    end: () => [],
  };
}

function createEvent(fact: Fact, id: string): CloudEvent {
  const { time, seq, run_seq, run_id, tool_call_id } = fact;
  const session = cleanAttribute(fact.session_id);
  return {
    specversion: "1.0",
    id,
    source: createPath("/soong/sessions", session ?? "unavailable"),
    type: `soong.${cleanAttribute(fact.type) ?? ""}`,
    time: isTimestamp(time) ? time : undefined,
    subject: createSubject(cleanAttribute(run_id), cleanAttribute(tool_call_id)),
    datacontenttype: "application/json",
    sequence: isCount(seq) ? String(seq).padStart(SEQUENCE_DIGITS, "0") : undefined,
    runsequence: isCount(run_seq) && run_seq <= MAX_INTEGER ? run_seq : undefined,
    level: cleanAttribute(fact.level),
    runid: cleanAttribute(run_id),
    agentid: cleanAttribute(fact.agent_id),
    parentrunid: cleanAttribute(fact.parent_run_id),
    parentagentid: cleanAttribute(fact.parent_agent_id),
    toolcallid: cleanAttribute(invocationId(fact)),
    toolname: cleanAttribute(fact.tool_name),
    data: omitResultBytes(fact.data),
  };
}

/** Of the largest number that is exact. */
const SEQUENCE_DIGITS = 16;
/** Of the Integer of CloudEvents. */
const MAX_INTEGER = 2 ** 31 - 1;

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function createSubject(run: string | undefined, call: string | undefined): string | undefined {
  if (run === undefined) return undefined;
  const ofRun = createPath("runs", run);
  return call === undefined ? ofRun : createPath(`${ofRun}/calls`, call);
}
