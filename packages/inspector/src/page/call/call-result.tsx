// What came of a call: as the model read it, and as the user should.

import { Prose } from "../parts/text.tsx";
import { type ContentBlock, type ToolError, type ToolResult, visibleLine } from "@soong/core";
import { JsonTree } from "../parts/json-tree.tsx";
import { durationText } from "../parts/time-text.ts";
import { ContentBlocks } from "./content-blocks.tsx";
import { SignMark } from "../parts/signs.tsx";
import { recoveryText } from "./words.ts";
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";

export function CallResult(props: {
  result: ToolResult;
  model_view: readonly ContentBlock[] | undefined;
}) {
  const { result } = props;
  return (
    <Tabs
      label="The result"
      tabs={[
        { name: "For the user", content: () => <ForTheUser result={result} /> },
        {
          name: "As the model read it",
          content: () => <ContentBlocks blocks={props.model_view ?? result.content} />,
        },
      ]}
    />
  );
}

function ForTheUser(props: { result: ToolResult }) {
  const { status, summary, data, error, metadata } = props.result;
  return (
    <div>
      <p>
        <SignMark state={status} />{" "}
        {metadata.duration_ms > 0 && (
          <span class="quiet">after {durationText(metadata.duration_ms)} of execution</span>
        )}
      </p>
      <Prose text={summary} />
      {error !== undefined && <ErrorText error={error} />}
      {data !== undefined && (
        <>
          <h4>Data</h4>
          <JsonTree value={data} label="Data of the result" open={2} />
        </>
      )}
    </div>
  );
}

export function ErrorText(props: { error: ToolError }) {
  const { error } = props;
  return (
    <div class="problem-box">
      <Prose text={error.message} />
      <p>
        {recoveryText(error.recovery)}{" "}
        <span class="quiet mono">
          {visibleLine(error.code)} · {visibleLine(error.error_class)}
        </span>
      </p>
      {error.details !== undefined && (
        <JsonTree value={error.details} label="Details of the error" />
      )}
    </div>
  );
}

/** One at a time, by click or arrow keys. */
interface Tab {
  readonly name: string;
  readonly content: () => ComponentChildren;
}

export function Tabs(props: { label: string; tabs: readonly Tab[] }) {
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const at = Math.min(chosen, props.tabs.length - 1);

  function onKeyDown(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
    const last = props.tabs.length - 1;
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const wrapped = next > last ? 0 : next < 0 ? last : next;
    setChosen(wrapped);
    const buttons = event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]");
    buttons[wrapped]?.focus();
  }

  return (
    <div class="result-tabs">
      <div role="tablist" aria-label={props.label} onKeyDown={onKeyDown}>
        {props.tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${index}`}
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${at}`}>
        {props.tabs[at]?.content()}
      </div>
    </div>
  );
}
