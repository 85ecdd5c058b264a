// The artifacts of a session: what calls left behind because it was too long to be told, or no text.

import { useState } from "preact/hooks";
import type { ArtifactList } from "../../wire/index.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { useInspector } from "../app/context.ts";
import { ArtifactViewer } from "../call/artifact-viewer.tsx";
import { LoadState } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import { useSlowed } from "../state/use-slowed.ts";

export function ArtifactsTab(props: { session_id: string; version: number }) {
  const { api } = useInspector();
  const { session_id } = props;
  const [opened, setOpened] = useState<string>();
  const loaded = useLoaded(
    (signal) =>
      api.ask("GET /api/sessions/:session_id/artifacts", { path: { session_id }, signal }),
    session_id,
    useSlowed(props.version),
  );
  const artifacts = loaded.value?.artifacts ?? [];
  return (
    <div class="view">
      <LoadState loaded={loaded} what="the artifacts" />
      {loaded.value !== undefined && artifacts.length === 0 && (
        <p class="quiet">No call of this session left any.</p>
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
    <table class="table artifacts">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Kind</th>
          <th scope="col" class="number">
            Bytes
          </th>
          <th scope="col">Call</th>
        </tr>
      </thead>
      <tbody>
        {props.artifacts.map((artifact) => (
          <tr key={artifact.artifact_id}>
            <td>
              <button
                type="button"
                class="link mono"
                aria-pressed={artifact.artifact_id === props.opened}
                onClick={() => props.onOpen(artifact.artifact_id)}
              >
                {visibleLine(artifact.name ?? artifact.artifact_id)}
              </button>
            </td>
            <td>{visibleLine(artifact.media_type)}</td>
            <td class="number">{artifact.size.toLocaleString("en")}</td>
            <td>
              {artifact.tool_call_id !== undefined && (
                <a
                  href={hashOf({
                    view: "session",
                    session_id: artifact.session_id,
                    tab: "timeline",
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
      </tbody>
    </table>
  );
}
