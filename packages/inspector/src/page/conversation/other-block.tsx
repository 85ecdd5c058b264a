// What a message holds beside text: pictures of the store, data, and names of what is elsewhere.

import { type ContentBlock, visible, visibleLine } from "@soong/core";
import type { ComponentChildren } from "preact";
import { Picture } from "../call/call-result.tsx";
import { sizeText } from "../parts/text.tsx";
import { ArtifactPicture } from "./artifact-picture.tsx";

/** Pictures that are stored are shown; the rest is named. */
export function OtherBlock({ block, session_id }: { block: ContentBlock; session_id: string }) {
  switch (block.type) {
    case "text":
      return <Words>{visible(block.text)}</Words>;
    case "json":
      return <Words>{visible(JSON.stringify(block.json, null, 2))}</Words>;
    case "image":
      return <Picture {...block} />;
    case "artifact_ref":
      return block.media_type.startsWith("image/") ? (
        <ArtifactPicture session_id={session_id} {...block} />
      ) : (
        <Named parts={["artifact", block.name ?? block.artifact_id, sizeText(block.size)]} />
      );
    case "audio":
      return <Named parts={["audio", block.media_type]} />;
    case "resource":
      return "text" in block ? (
        <Words>{visible(`${block.uri}\n${block.text}`)}</Words>
      ) : (
        <Named parts={["resource", block.uri]} />
      );
    case "resource_link":
      return <Named parts={["link", block.name, block.uri]} />;
    default:
      // Written by a later version.
      return <Words>{visible(JSON.stringify(block))}</Words>;
  }
}

function Words({ children }: { children: ComponentChildren }) {
  // It may have a height of its own, so a keyboard has to be able to scroll it.
  return (
    <div class="block mono" tabIndex={0}>
      {children}
    </div>
  );
}

function Named({ parts }: { parts: readonly (string | undefined)[] }) {
  return <p class="quiet mono">[{visibleLine(parts.filter(Boolean).join(" · "))}]</p>;
}
