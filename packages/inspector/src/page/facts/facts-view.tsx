// The journal of a session, or of one of its runs, as a list; a row opens the whole fact.

import { useEffect, useState } from "preact/hooks";
import { useInspector } from "../app/context.ts";
import { useKeys } from "../app/use-keys.ts";
import type { FactRow } from "../../wire/index.ts";
import { ProblemText } from "../parts/loading.tsx";
import { clockText } from "../parts/time-text.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { visibleLine } from "@soong/core";
import type { SessionRoute } from "../route/hash-route.ts";
import { RunPicker } from "../sessions/run-picker.tsx";
import type { SessionModel } from "../state/session-model.ts";
import { FactDetails } from "./fact-details.tsx";
import { useFactPages } from "./fact-pages.ts";

const ROW_HEIGHT = 22;

export function FactsView(props: { route: SessionRoute; model: SessionModel }) {
  const { route, model } = props;
  const { go } = useInspector();
  const { session_id, run_id, seq } = route;
  const run = run_id === undefined ? undefined : model.runs.get(run_id);
  const facts = useFactPages(session_id, run_id, run?.last_seq ?? model.read_seq);
  const [active, setActive] = useState<number>();
  const [show, setShow] = useState({ index: 0, request: 0 });

  // A deep link: the facts of a session are counted from 1, those of a run have gaps.
  const isThere = facts.total > 0;
  useEffect(() => {
    if (!isThere || seq === undefined || run_id !== undefined) return;
    setActive(seq - 1);
    setShow({ index: seq - 1, request: show.request + 1 });
  }, [isThere]);

  const to = (seq: number | undefined) => {
    const { seq: _, ...rest } = route;
    go(seq === undefined ? rest : { ...rest, seq }, "replace");
  };
  const close = () => {
    to(undefined);
    document.getElementById("facts")?.focus();
  };
  useKeys(seq === undefined ? {} : { Escape: close });

  return (
    <div class={seq === undefined ? "facts" : "facts with-side"}>
      <div class="chart">
        <div class="toolbar" role="toolbar" aria-label="Facts">
          <RunPicker model={model} route={route} all="The whole session" />
          <span class="quiet count">{facts.total.toLocaleString("en")} facts</span>
          <span class="gap" />
          <GoToFact
            total={facts.total}
            onGo={(index) => {
              setActive(index);
              setShow({ index, request: show.request + 1 });
            }}
          />
        </div>
        {facts.problem !== undefined && <ProblemText text={facts.problem} />}
        <VirtualList
          key={run_id ?? ""}
          id="facts"
          label="Facts"
          role="grid"
          count={facts.total}
          row_height={ROW_HEIGHT}
          active={active}
          onActive={setActive}
          onOpen={(index) => to(facts.row(index)?.seq)}
          onSeen={facts.onSeen}
          show={show}
          header={<FactsHead />}
          row={(index) => {
            const fact = facts.row(index);
            return {
              class: fact === undefined ? "fact" : `fact ${fact.level}`,
              is_selected: fact !== undefined && fact.seq === seq,
              children: fact === undefined ? <Pending index={index} /> : <FactCells fact={fact} />,
            };
          }}
        />
      </div>
      {seq !== undefined && <FactDetails session_id={session_id} seq={seq} onClose={close} />}
    </div>
  );
}

function FactsHead() {
  return (
    <div class="facts-head" role="row">
      <span role="columnheader" class="number">
        Seq
      </span>
      <span role="columnheader">Time</span>
      <span role="columnheader">Type</span>
      <span role="columnheader">What it says</span>
    </div>
  );
}

function FactCells({ fact }: { fact: FactRow }) {
  return (
    <>
      <span role="gridcell" class="number">
        {fact.seq}
      </span>
      <span role="gridcell" class="time" title={fact.time}>
        {clockText(Date.parse(fact.time))}
      </span>
      <span role="gridcell" class="type">
        {fact.level === "warn" || fact.level === "error"
          ? `${fact.level === "warn" ? "!" : "✕"} `
          : ""}
        {visibleLine(fact.type)}
      </span>
      <span role="gridcell" class="says">
        {fact.tool_name !== undefined && <span class="tool">{visibleLine(fact.tool_name)} </span>}
        {visibleLine(fact.text)}
      </span>
    </>
  );
}

function Pending({ index }: { index: number }) {
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

function GoToFact(props: { total: number; onGo: (index: number) => void }) {
  return (
    <form
      class="go-to"
      onSubmit={(event) => {
        event.preventDefault();
        const field = event.currentTarget.elements.namedItem("place");
        if (!(field instanceof HTMLInputElement) || props.total === 0) return;
        const place = Number(field.value);
        if (Number.isInteger(place)) {
          props.onGo(Math.min(props.total, Math.max(1, place)) - 1);
          document.getElementById("facts")?.focus();
        }
      }}
    >
      <label>
        Go to{" "}
        <input name="place" type="number" min="1" max={props.total} data-search required size={8} />
      </label>
    </form>
  );
}
