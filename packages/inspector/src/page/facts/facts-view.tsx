// The journal of a session, or of one of its runs, as a list; a row opens the whole fact.

import { visibleLine } from "@soong/core";
import { useEffect, useState } from "preact/hooks";
import type { FactRow } from "../../wire/session-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { useKeys } from "../app/keys.ts";
import { JsonTree } from "../parts/json-tree.tsx";
import { usePhone } from "../parts/phone.ts";
import { SidePane } from "../parts/side-pane.tsx";
import { countText, Loaded, Mono, ProblemText } from "../parts/text.tsx";
import { clockText } from "../parts/time.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { type SessionRoute, linkToTimeline } from "../route/hash-route.ts";
import { RunPicker } from "../sessions/run-picker.tsx";
import type { SessionModel } from "../state/session-model.ts";
import { useFactPages } from "./fact-pages.ts";

const ROW_HEIGHT = { desk: 22, phone: 46 } as const;

export function FactsView({ route, model }: { route: SessionRoute; model: SessionModel }) {
  const { go } = useInspector();
  const { session_id, run_id, seq } = route;
  const run = run_id === undefined ? undefined : model.runs.get(run_id);
  const facts = useFactPages(session_id, run_id, run?.last_seq ?? model.read_seq);
  const [active, setActive] = useState<number>();
  const [show, setShow] = useState({ index: 0, request: 0 });
  const showRow = (index: number) => {
    setActive(index);
    setShow({ index, request: show.request + 1 });
  };

  // A deep link: the facts of a session are counted from 1, those of a run have gaps.
  const isThere = facts.total > 0;
  useEffect(() => {
    if (isThere && seq !== undefined && run_id === undefined) showRow(seq - 1);
  }, [isThere]);

  // The way back leads to the list, not through every fact that was looked at.
  const open = (next: number | undefined) =>
    go({ ...route, seq: next }, seq === undefined ? undefined : "replace");
  const close = () => {
    open(undefined);
    document.getElementById("facts")?.focus();
  };
  useKeys(seq === undefined ? {} : { Escape: close });

  return (
    <div class={seq === undefined ? "facts" : "facts with-side"} data-columns>
      <div class="chart">
        <div class="toolbar" role="toolbar" aria-label="Facts">
          <RunPicker model={model} route={route} all="The whole session" />
          <span class="quiet count">{countText(facts.total)} facts</span>
          <span class="gap" />
          <GoToFact total={facts.total} onGo={showRow} />
        </div>
        <ProblemText text={facts.problem} />
        <VirtualList
          key={run_id ?? ""}
          id="facts"
          label="Facts"
          role="grid"
          count={facts.total}
          row_height={ROW_HEIGHT[usePhone() ? "phone" : "desk"]}
          active={active}
          onActive={setActive}
          onOpen={(index) => open(facts.row(index)?.seq)}
          onSeen={facts.onSeen}
          show={show}
          header={
            <div class="facts-head" role="row">
              {["Seq", "Time", "Type", "What it says"].map((name) => (
                <span key={name} role="columnheader" class={name === "Seq" ? "number" : undefined}>
                  {name}
                </span>
              ))}
            </div>
          }
          row={(index) => {
            const fact = facts.row(index);
            return {
              class: `fact ${fact?.level ?? ""}`,
              is_selected: fact !== undefined && fact.seq === seq,
              children: <FactCells fact={fact} index={index} />,
            };
          }}
        />
      </div>
      {seq !== undefined && <FactDetails session_id={session_id} seq={seq} onClose={close} />}
    </div>
  );
}

const LEVEL_SIGNS: Readonly<Record<string, string>> = { warn: "! ", error: "✕ " };

function FactCells({ fact, index }: { fact: FactRow | undefined; index: number }) {
  if (fact === undefined) {
    return (
      <>
        <span role="gridcell" class="number">
          {index + 1}
        </span>
        <span role="gridcell" class="quiet">
          …
        </span>
      </>
    );
  }
  return (
    <>
      <span role="gridcell" class="number">
        {fact.seq}
      </span>
      <span role="gridcell" class="time" title={fact.time}>
        {clockText(Date.parse(fact.time))}
      </span>
      <span role="gridcell" class="type">
        {LEVEL_SIGNS[fact.level]}
        {visibleLine(fact.type)}
      </span>
      <span role="gridcell" class="says">
        {fact.tool_name !== undefined && <span class="tool">{visibleLine(fact.tool_name)} </span>}
        {visibleLine(fact.text)}
      </span>
    </>
  );
}

function GoToFact({ total, onGo }: { total: number; onGo: (index: number) => void }) {
  return (
    <form
      class="go-to"
      onSubmit={(event) => {
        event.preventDefault();
        const place = Number(new FormData(event.currentTarget).get("place"));
        if (total === 0 || !Number.isInteger(place)) return;
        onGo(Math.min(total, Math.max(1, place)) - 1);
        document.getElementById("facts")?.focus();
      }}
    >
      <label>
        Go to <input name="place" type="number" min="1" max={total} data-search required size={8} />
      </label>
    </form>
  );
}

/** One whole fact, as a tree. */
function FactDetails(props: { session_id: string; seq: number; onClose: () => void }) {
  const { session_id, seq } = props;
  const loaded = useAnswer("GET /api/sessions/:session_id/facts/:seq", {
    path: { session_id, seq: String(seq) },
  });
  return (
    <SidePane
      label={`Fact ${seq}`}
      head={
        <h2>
          Fact {seq} {loaded.value && <Mono text={loaded.value.fact.type} />}
        </h2>
      }
      onClose={props.onClose}
    >
      <Loaded from={loaded} what="the fact">
        {({ fact }) => (
          <>
            {fact.run_id !== undefined && fact.tool_call_id !== undefined && (
              <p>
                <a href={linkToTimeline({ ...fact, session_id })}>Its call in the timeline</a>
              </p>
            )}
            <JsonTree value={fact} label={`Fact ${seq}`} open={2} />
          </>
        )}
      </Loaded>
    </SidePane>
  );
}
