// What the model reads, block by block. Links are text and nothing is fetched; an image is drawn from the bytes at hand
// where it is of a plain kind and not too large.

import { LongText, Mono, sizeText } from "../parts/text.tsx";
import { type ContentBlock, visibleLine } from "@soong/core";
import { CopyButton } from "./copy-button.tsx";
import { JsonCode } from "./json-code.tsx";

const BLOCKS = 100;

export function ContentBlocks(props: { blocks: readonly ContentBlock[] }) {
  if (props.blocks.length === 0) return <p class="quiet">Nothing.</p>;
  return (
    <div class="content-blocks">
      {props.blocks.slice(0, BLOCKS).map((block, index) => (
        <Block key={index} block={block} />
      ))}
      {props.blocks.length > BLOCKS && (
        <p class="quiet">… {props.blocks.length - BLOCKS} more blocks</p>
      )}
    </div>
  );
}

function Block(props: { block: ContentBlock }) {
  const { block } = props;
  switch (block.type) {
    case "text":
      return (
        <section class="content-block" aria-label="Text">
          <BlockHead kind="text" copied={block.text} />
          <LongText text={block.text} />
        </section>
      );
    case "json":
      return (
        <section class="content-block" aria-label="JSON">
          <BlockHead kind="json" />
          <JsonCode value={block.json} label="JSON" />
        </section>
      );
    case "image":
      return (
        <section class="content-block" aria-label="Image">
          <BlockHead kind={`image, ${block.media_type}, ${sizeText(bytesOf(block.data))}`} />
          <Picture media_type={block.media_type} data={block.data} />
        </section>
      );
    case "audio":
      return (
        <p class="content-block">
          Audio, {visibleLine(block.media_type)}, {sizeText(bytesOf(block.data))}
        </p>
      );
    case "resource":
      return (
        <section class="content-block" aria-label="Resource">
          <BlockHead kind={`resource ${block.uri}, ${block.media_type ?? "of unknown type"}`} />
          {"text" in block ? (
            <LongText text={block.text} />
          ) : (
            <p class="quiet">{sizeText(bytesOf(block.blob))} that are not text</p>
          )}
        </section>
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

function BlockHead(props: { kind: string; copied?: string }) {
  return (
    <p class="content-block-head quiet">
      {visibleLine(props.kind)}{" "}
      {props.copied !== undefined && <CopyButton text={props.copied} what="the text" />}
    </p>
  );
}

const PICTURES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);
const LARGEST_PICTURE = 8_000_000;

function Picture(props: { media_type: string; data: string }) {
  if (!PICTURES.has(props.media_type)) {
    return <p class="quiet">Images of this type are not shown here.</p>;
  }
  if (props.data.length > LARGEST_PICTURE) {
    return <p class="quiet">It is too large to be shown here.</p>;
  }
  return (
    <img
      class="picture"
      alt="As the model saw it"
      src={`data:${props.media_type};base64,${props.data}`}
    />
  );
}

/** Of base64. */
function bytesOf(data: string): number {
  return Math.floor((data.length * 3) / 4);
}
