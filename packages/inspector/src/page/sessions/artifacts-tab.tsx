// The artifacts of a session: what calls left behind because it was too long for the conversation, or is not text.

import { Table } from "../parts/table.tsx";
import { LinkButton } from "../parts/button.tsx";
import { useState } from "preact/hooks";
import type { ArtifactList } from "../../wire/index.ts";
import { useAnswer } from "../api/use-answer.ts";
import { ArtifactViewer } from "../call/artifact-viewer.tsx";
import { LoadState } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { timelineHash } from "../route/hash-route.ts";
import { useSlowed } from "../parts/use-time.ts";

export function ArtifactsTab(props: { session_id: string; version: number }) {
  const { session_id } = props;
  const [opened, setOpened] = useState<string>();
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/artifacts",
    { path: { session_id } },
    { version: useSlowed(props.version) },
  );
  const artifacts = loaded.value?.artifacts ?? [];
  return (
    <div class="view">
      <LoadState loaded={loaded} what="the artifacts" />
      {loaded.value !== undefined && artifacts.length === 0 && (
        <p class="quiet">This session has no artifacts.</p>
      )}
      {artifacts.length > 0 && (
        <ArtifactTable artifacts={artifacts} opened={opened} onOpen={setOpened} />
      )}
      {opened !== undefined && <ArtifactViewer session_id={session_id} artifact_id={opened} />}
    </div>
  );
}

function ArtifactTable(props: {
  artifacts: ArtifactList["artifacts"];
  opened: string | undefined;
  onOpen: (artifact_id: string) => void;
}) {
  return (
    <Table head={["Name", "Kind", "#Bytes", "Call"]} class="artifacts">
      {props.artifacts.map((artifact) => (
        <tr key={artifact.artifact_id}>
          <td>
            <LinkButton
              mono
              aria-pressed={artifact.artifact_id === props.opened}
              onClick={() => props.onOpen(artifact.artifact_id)}
            >
              {visibleLine(artifact.name ?? artifact.artifact_id)}
            </LinkButton>
          </td>
          <td>{visibleLine(artifact.media_type)}</td>
          <td class="number">{artifact.size.toLocaleString("en")}</td>
          <td>
            {artifact.tool_call_id !== undefined && (
              <a
                href={timelineHash({
                  session_id: artifact.session_id,
                  run_id: artifact.run_id,
                  tool_call_id: artifact.tool_call_id,
                })}
              >
                {visibleLine(artifact.tool_call_id)}
              </a>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
