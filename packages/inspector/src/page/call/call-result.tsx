// What came of a call: as the model read it, block by block, and as the user should. Links are text and nothing is
// fetched; an image is drawn from the bytes at hand where it is of a plain kind and not too large.

import { type ContentBlock, type ToolError, type ToolResult, visibleLine } from "@soong/core";
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { CopyButton, onTabKey } from "../parts/button.tsx";
import { JsonCode } from "../parts/json-code.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { LongText, Mono, Prose, sizeText } from "../parts/text.tsx";
import { adviceText } from "./words.ts";

export function CallResult(props: {
  result: ToolResult;
  model_view: readonly ContentBlock[] | undefined;
}) {
  const { result, model_view = result.content } = props;
  return (
    <Tabs
      label="The result"
      tabs={{
        "For the user": () => <ForTheUser result={result} />,
        "As the model read it": () => <ContentBlocks blocks={model_view} />,
      }}
    />
  );
}

/** Its output first, then the error it ended with, then what it returned as data. */
function ForTheUser({ result }: { result: ToolResult }) {
  const { content, data, error, summary } = result;
  // An error that came without any output is its own text for the model.
  const hasOutput = content.some(
    (block) => block.type !== "text" || (block.text !== "" && block.text !== error?.message),
  );
  const isSaid =
    error !== undefined || content.some((block) => block.type === "text" && block.text === summary);
  return (
    <div>
      {!isSaid && <Prose text={summary} />}
      {hasOutput && <ContentBlocks blocks={content} />}
      {error && <ErrorText error={error} />}
      {!hasOutput && error === undefined && data === undefined && <p class="quiet">No output.</p>}
      {data !== undefined && (
        <>
          <h4>Data</h4>
          <JsonTree value={data} label="Data of the result" open={2} />
        </>
      )}
    </div>
  );
}

export function ErrorText({ error }: { error: ToolError }) {
  const { message, code, error_class, details } = error;
  return (
    <div class="problem-box">
      <Prose text={message} />
      <p>
        {adviceText(error)}{" "}
        <span class="quiet mono">
          {visibleLine(code)} · {visibleLine(error_class)}
        </span>
      </p>
      {details !== undefined && <JsonTree value={details} label="Details of the error" />}
    </div>
  );
}

/** One at a time, by click or arrow keys. */
function Tabs(props: { label: string; tabs: Readonly<Record<string, () => ComponentChildren>> }) {
  const names = Object.keys(props.tabs);
  const [at, setAt] = useState(0);
  const id = useId();

  return (
    <div class="result-tabs">
      <div role="tablist" aria-label={props.label} onKeyDown={onTabKey}>
        {names.map((name, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${index}`}
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => setAt(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${at}`}>
        {props.tabs[names[at] ?? ""]?.()}
      </div>
    </div>
  );
}

const BLOCKS = 100;

function ContentBlocks({ blocks }: { blocks: readonly ContentBlock[] }) {
  if (blocks.length === 0) return <p class="quiet">Nothing.</p>;
  return (
    <div class="content-blocks">
      {blocks.slice(0, BLOCKS).map((block, index) => (
        <Block key={index} block={block} />
      ))}
      {blocks.length > BLOCKS && <p class="quiet">… {blocks.length - BLOCKS} more blocks</p>}
    </div>
  );
}

function Block({ block }: { block: ContentBlock }) {
  switch (block.type) {
    case "text":
      return (
        <Titled name="Text" head="text" copied={block.text}>
          <LongText text={block.text} />
        </Titled>
      );
    case "json":
      return (
        <Titled name="JSON" head="json">
          <JsonCode value={block.json} label="JSON" />
        </Titled>
      );
    case "image":
      return (
        <Titled name="Image" head={`image, ${block.media_type}, ${bytesText(block.data)}`}>
          <Picture {...block} />
        </Titled>
      );
    case "resource":
      return (
        <Titled
          name="Resource"
          head={`resource ${block.uri}, ${block.media_type ?? "of unknown type"}`}
        >
          {"text" in block ? (
            <LongText text={block.text} />
          ) : (
            <p class="quiet">{bytesText(block.blob)} that are not text</p>
          )}
        </Titled>
      );
    case "audio":
      return (
        <p class="content-block">
          Audio, {visibleLine(block.media_type)}, {bytesText(block.data)}
        </p>
      );
    case "resource_link":
      return (
        <p class="content-block">
          Link to a resource: <Mono text={block.uri} />
          {block.name !== undefined && ` — ${visibleLine(block.name)}`}
          {block.description !== undefined && ` — ${visibleLine(block.description)}`}
        </p>
      );
    case "artifact_ref":
      return (
        <p class="content-block">
          Artifact <Mono text={block.artifact_id} />, {visibleLine(block.media_type)},{" "}
          {sizeText(block.size)}
        </p>
      );
  }
}

function Titled(props: {
  name: string;
  head: string;
  copied?: string;
  children: ComponentChildren;
}) {
  return (
    <section class="content-block" aria-label={props.name}>
      <p class="content-block-head quiet">
        {visibleLine(props.head)}{" "}
        {props.copied !== undefined && <CopyButton text={props.copied} what="the text" />}
      </p>
      {props.children}
    </section>
  );
}

export const PICTURES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
export const LARGEST_PICTURE = 8_000_000;

export function Picture({ media_type, data }: { media_type: string; data: string }) {
  if (!PICTURES.includes(media_type)) {
    return <p class="quiet">Images of this type are not shown here.</p>;
  }
  if (data.length > LARGEST_PICTURE) return <p class="quiet">It is too large to be shown here.</p>;
  return (
    <img class="picture" alt="As the model saw it" src={`data:${media_type};base64,${data}`} />
  );
}

/** Of base64. */
function bytesText(data: string): string {
  return sizeText(Math.floor((data.length * 3) / 4));
}
