// A stored picture, asked for with the token like every record and shown from memory: the page itself loads nothing.

import { visibleLine } from "@soong/core";
import { useEffect, useState } from "preact/hooks";
import type { ArtifactPage } from "../../wire/session-records.ts";
import { useAction } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { LARGEST_PICTURE, PICTURES } from "../call/call-result.tsx";
import { LinkButton } from "../parts/button.tsx";
import { ProblemText, sizeText } from "../parts/text.tsx";

const PAGE = String(256 * 1024);

export function ArtifactPicture(props: {
  session_id: string;
  artifact_id: string;
  media_type: string;
  size: number;
  name?: string | undefined;
}) {
  const { session_id, artifact_id, media_type, size } = props;
  const { api } = useInspector();
  const [address, setAddress] = useState<string>();
  const { isRunning, problem, run } = useAction();
  const name = visibleLine(props.name ?? artifact_id);
  useEffect(() => () => void (address !== undefined && URL.revokeObjectURL(address)), [address]);

  const load = () =>
    void run(async () => {
      const parts: Uint8Array<ArrayBuffer>[] = [];
      for (let offset: number | undefined = 0; offset !== undefined;) {
        const page: ArtifactPage = await api.ask(
          "GET /api/sessions/:session_id/artifacts/:artifact_id",
          {
            path: { session_id, artifact_id },
            query: { offset: String(offset), length: PAGE },
          },
        );
        parts.push(readHex(page.hex ?? ""));
        offset = page.next_offset;
      }
      setAddress(URL.createObjectURL(new Blob(parts, { type: media_type })));
    });

  if (address !== undefined) return <img class="picture" alt={name} src={address} />;
  const canShow = PICTURES.includes(media_type) && size <= LARGEST_PICTURE;
  return (
    <p class="quiet">
      [image · <span class="mono">{name}</span> · {sizeText(size)}]{" "}
      {canShow && (
        <LinkButton disabled={isRunning} onClick={load}>
          Show it
        </LinkButton>
      )}
      <ProblemText text={problem} />
    </p>
  );
}

function readHex(hex: string): Uint8Array<ArrayBuffer> {
  const digits = hex.replaceAll(/[^0-9a-f]/gi, "");
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i += 1) {
    bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  }
  return bytes;
}
