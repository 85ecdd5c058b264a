// Artifacts of a session: which there are, page by page, and where something is in one.

import { artifactBytes, createLineCounter } from "./artifact-bytes.ts";
import { readArtifactPage } from "./artifact-page.ts";
import type { HandlerParts, Handlers } from "./handler.ts";
import { compilePattern, searchArtifact } from "./search-artifact.ts";

const MOST_PAGE_BYTES = 256 * 1024;
const PAGE_BYTES = 64 * 1024;
const MOST_SEARCH_MS = 5000;

type Own =
  | "GET /api/sessions/:session_id/artifacts"
  | "GET /api/sessions/:session_id/artifacts/:artifact_id"
  | "GET /api/sessions/:session_id/artifacts/:artifact_id/search";

export function artifactHandlers({ indexes, redact }: HandlerParts): Pick<Handlers, Own> {
  const lines = createLineCounter();

  return {
    "GET /api/sessions/:session_id/artifacts": {
      query: ["tool_call_id"],
      async handle({ parts: { session_id }, query }) {
        const tool_call_id = query.text("tool_call_id");
        const { reader } = await indexes.of(session_id);
        await reader.record();
        const artifacts = await reader.artifacts();
        return {
          artifacts: artifacts.filter(
            (one) => tool_call_id === undefined || one.tool_call_id === tool_call_id,
          ),
        };
      },
    },
    "GET /api/sessions/:session_id/artifacts/:artifact_id": {
      query: ["offset", "length"],
      async handle({ parts: { session_id, artifact_id }, query, signal }) {
        const offset = query.whole("offset", {
          min: 0,
          max: Number.MAX_SAFE_INTEGER,
          otherwise: 0,
        });
        const length = query.whole("length", {
          min: 1,
          max: MOST_PAGE_BYTES,
          otherwise: PAGE_BYTES,
        });
        const { reader } = await indexes.of(session_id);
        const artifact = await artifactBytes(reader, artifact_id);
        const page = await readArtifactPage(artifact, { offset, length }, redact);
        if (page.text === undefined) return page;
        return { ...page, line: await lines.lineAt(artifact, page.offset, signal) };
      },
    },
    "GET /api/sessions/:session_id/artifacts/:artifact_id/search": {
      query: ["q", "regex"],
      async handle({ parts: { session_id, artifact_id }, query, signal }) {
        const pattern = compilePattern(query.needed("q"), query.flag("regex"));
        const { reader } = await indexes.of(session_id);
        const artifact = await artifactBytes(reader, artifact_id);
        return searchArtifact(artifact, { pattern, redact, signal, mostMs: MOST_SEARCH_MS });
      },
    },
  };
}
