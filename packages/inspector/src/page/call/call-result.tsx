// What came of a call: as the model read it, and as a person should.

import type { ContentBlock, ToolError, ToolResult } from "@soong/core";
import { CutText } from "../parts/cut-text.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { durationText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { ContentBlocks } from "./content-blocks.tsx";
import { SignMark } from "./sign-mark.tsx";
import { Tabs } from "./tabs.tsx";
import { recoveryText } from "./words.ts";

export function CallResult(props: {
  result: ToolResult;
  model_view: readonly ContentBlock[] | undefined;
}) {
  const { result } = props;
  return (
    <Tabs
      label="The result"
      tabs={[
        { name: "For a person", content: () => <ForAPerson result={result} /> },
        {
          name: "As the model read it",
          content: () => <ContentBlocks blocks={props.model_view ?? result.content} />,
        },
      ]}
    />
  );
}

function ForAPerson(props: { result: ToolResult }) {
  const { status, summary, data, error, metadata } = props.result;
  return (
    <div>
      <p>
        <SignMark state={status} />{" "}
        {metadata.duration_ms > 0 && (
          <span class="quiet">after {durationText(metadata.duration_ms)} of execution</span>
        )}
      </p>
      {summary !== "" && (
        <p class="prose">
          <CutText text={summary} />
        </p>
      )}
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
      <p class="prose">
        <CutText text={error.message} />
      </p>
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
