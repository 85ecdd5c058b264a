// The artifacts of a session: what calls left behind because it was too long to be told, or no text.

import { useInspector } from "../app/context.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { LoadState } from "../parts/loading.tsx";
import { visibleLine } from "../parts/visible.ts";
import { hashOf } from "../route/hash-route.ts";

export function ArtifactsTab(props: { session_id: string; version: number }) {
  const { api } = useInspector();
  const { session_id } = props;
  const loaded = useLoaded(
    (signal) =>
      api.ask("GET /api/sessions/:session_id/artifacts", { path: { session_id }, signal }),
    session_id,
    props.version,
  );
  const callHash = (run_id: string, tool_call_id: string) =>
    hashOf({ view: "session", session_id, tab: "timeline", run_id, tool_call_id });
  return (
    <div class="view">
      <LoadState loaded={loaded} what="the artifacts" />
      {loaded.value?.artifacts.length === 0 && <p class="quiet">No call left any.</p>}
      {loaded.value !== undefined && loaded.value.artifacts.length > 0 && (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Kind</th>
              <th scope="col">Bytes</th>
              <th scope="col">Call</th>
            </tr>
          </thead>
          <tbody>
            {loaded.value.artifacts.map((artifact) => (
              <tr key={artifact.artifact_id}>
                <td class="mono">{visibleLine(artifact.name ?? artifact.artifact_id)}</td>
                <td>{visibleLine(artifact.media_type)}</td>
                <td class="number">{artifact.size.toLocaleString("en")}</td>
                <td>
                  {artifact.tool_call_id !== undefined && (
                    <a href={callHash(artifact.run_id, artifact.tool_call_id)}>
                      {visibleLine(artifact.tool_call_id)}
                    </a>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
