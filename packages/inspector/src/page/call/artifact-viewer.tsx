// An artifact page by page, with a search that leads to the place. A page is asked for by the offset of its first byte;
// the artifact itself may be of any size.

import { visible, visibleLine } from "@soong/core";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ArtifactPage } from "../../wire/session-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { Button, CopyButton, LinkButton } from "../parts/button.tsx";
import { TextInput } from "../parts/input.tsx";
import { Loaded, sizeText } from "../parts/text.tsx";

const PAGE_BYTES = 16_384;

export function ArtifactViewer(path: { session_id: string; artifact_id: string }) {
  const { session_id, artifact_id } = path;
  const [offset, setOffset] = useState(0);
  const [visited, setVisited] = useState<readonly number[]>([]);
  useEffect(() => {
    setOffset(0);
    setVisited([]);
  }, [session_id, artifact_id]);
  const loaded = useAnswer("GET /api/sessions/:session_id/artifacts/:artifact_id", {
    path: { session_id, artifact_id },
    query: { offset: String(offset), length: String(PAGE_BYTES) },
  });

  function go(to = offset): void {
    setVisited([...visited, offset]);
    setOffset(to);
  }

  function back(): void {
    const at = visited.findLastIndex((before) => before < offset);
    setVisited(visited.slice(0, at));
    setOffset(visited[at] ?? Math.max(0, offset - PAGE_BYTES));
  }

  return (
    <section class="artifact" aria-label={`Artifact ${artifact_id}`}>
      <ArtifactSearch session_id={session_id} artifact_id={artifact_id} onGo={go} />
      <Loaded from={loaded} what="the artifact">
        {(page) => (
          <>
            <div class="pager" role="group" aria-label="Pages">
              <Button disabled={offset === 0} onClick={() => go(0)}>
                ⇤ Beginning
              </Button>
              <Button disabled={offset === 0} onClick={back}>
                ← Previous
              </Button>
              <Button
                disabled={page.next_offset === undefined}
                onClick={() => go(page.next_offset)}
              >
                Next →
              </Button>
              <span class="quiet">{placeText(page)}</span>
            </div>
            <PageText page={page} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function PageText({ page }: { page: ArtifactPage }) {
  const { text, hex = "" } = page;
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = 0;
  }, [page]);
  return (
    <>
      {text === undefined ? (
        <p class="quiet">These bytes are not text; as hexadecimal:</p>
      ) : (
        <CopyButton text={text} what="this page" />
      )}
      <pre ref={box} class="code artifact-page" tabIndex={0} aria-label="A page of the artifact">
        {text === "" && <span class="quiet">(empty)</span>}
        {text === undefined ? hexRows(hex) : visible(text)}
      </pre>
    </>
  );
}

function hexRows(hex: string): string {
  const rows = hex.match(/.{1,32}/g) ?? [];
  return rows.map((row) => row.match(/../g)?.join(" ")).join("\n");
}

function placeText({ artifact, offset, next_offset, line }: ArtifactPage): string {
  const { size, media_type } = artifact;
  const from = line === undefined ? "" : `from line ${line}, `;
  return `${from}bytes ${offset}–${next_offset ?? size} of ${size} (${sizeText(size)}), ${visibleLine(media_type)}`;
}

function ArtifactSearch(props: {
  session_id: string;
  artifact_id: string;
  onGo: (offset: number) => void;
}) {
  const { session_id, artifact_id } = props;
  const [q, setQuery] = useState("");
  const [isRegex, setRegex] = useState(false);
  const [query, setAsked] = useState<{ q: string; regex?: "1" }>();
  const [at, setAt] = useState(-1);
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/artifacts/:artifact_id/search",
    { path: { session_id, artifact_id }, query: query ?? { q } },
    { isPaused: query === undefined, subject: JSON.stringify(query) },
  );

  return (
    <form
      class="artifact-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (q === "") return;
        setAt(-1);
        setAsked({ q, regex: isRegex ? "1" : undefined });
      }}
    >
      <label>
        <span class="unseen">Search in this artifact</span>
        <TextInput
          type="search"
          placeholder="Search in this artifact"
          value={q}
          onText={setQuery}
        />
      </label>
      <label>
        <input
          type="checkbox"
          checked={isRegex}
          onChange={(event) => setRegex(event.currentTarget.checked)}
        />{" "}
        regular expression
      </label>
      <button type="submit" class="button" disabled={q === ""}>
        Search
      </button>
      {query && (
        <Loaded from={loaded} what="the matches">
          {({ matches, is_cut }) => {
            const jump = (to: number) => {
              setAt(to);
              props.onGo(matches[to]?.offset ?? 0);
            };
            const found = `${matches.length}${is_cut ? " and more" : ""} found`;
            return (
              <>
                <div role="status" class="quiet">
                  {matches.length === 0
                    ? "Nothing found."
                    : `${found}${at >= 0 ? `, at number ${at + 1}` : ""}.`}
                </div>
                {matches.length > 0 && (
                  <>
                    <div class="pager">
                      <Button disabled={at <= 0} onClick={() => jump(at - 1)}>
                        ↑ Previous match
                      </Button>
                      <Button disabled={at >= matches.length - 1} onClick={() => jump(at + 1)}>
                        ↓ Next match
                      </Button>
                    </div>
                    <ol class="matches" aria-label="Matches">
                      {matches.map(({ line, text }, index) => (
                        <li key={index}>
                          <LinkButton mono aria-current={index === at} onClick={() => jump(index)}>
                            {line}: {visibleLine(text.slice(0, 200))}
                          </LinkButton>
                        </li>
                      ))}
                    </ol>
                  </>
                )}
              </>
            );
          }}
        </Loaded>
      )}
    </form>
  );
}
