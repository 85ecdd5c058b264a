// Calls that were made on a playground before, with the way to each and its input to use again.

import { visibleLine } from "@soong/core";
import type { PastCall } from "../../wire/home-records.ts";
import { LinkButton } from "../parts/button.tsx";
import { Table, useFirst } from "../parts/list.tsx";
import { SignMark } from "../parts/signs.tsx";
import { Mono } from "../parts/text.tsx";
import { recordedMoment } from "../parts/time.ts";
import { linkToTimeline } from "../route/hash-route.ts";

const FIRST_CALLS = 10;
const SHOWN_CHARS = 120;

/** `namesTools`: they are of several tools. */
export function CallHistory(props: {
  calls: readonly PastCall[];
  onUse: (call: PastCall) => void;
  namesTools?: boolean;
}) {
  const [shown, more] = useFirst(props.calls, FIRST_CALLS, "calls");
  if (props.calls.length === 0) return null;
  return (
    <section class="call-history" aria-label="Earlier calls">
      <h3>Earlier calls</h3>
      <Table
        head={["Called", "Input", "Result", "Again"]}
        rows={shown}
        cells={(call) => [
          <a href={linkToTimeline(call)}>{recordedMoment(call.called_at)}</a>,
          <span class="input">
            {props.namesTools && (
              <>
                <Mono text={call.tool_name} />{" "}
              </>
            )}
            <span class="quiet mono">{describeInput(call)}</span>
          </span>,
          call.status === undefined ? (
            <span class="quiet">no result</span>
          ) : (
            <SignMark state={call.status} />
          ),
          <LinkButton disabled={call.input === undefined} onClick={() => props.onUse(call)}>
            Use again<span class="unseen">: the input of this call</span>
          </LinkButton>,
        ]}
      />
      {more}
    </section>
  );
}

function describeInput({ input }: PastCall): string {
  if (input === undefined) return "(not recorded whole)";
  const text = JSON.stringify(input);
  return visibleLine(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text);
}
