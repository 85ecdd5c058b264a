// One model request, for the pane beside the timeline: what was sent, what came back, and what changed since the request
// before (MODEL-7). Parts are loaded when they are opened: a request may be megabytes.

import { visibleLine } from "@soong/core";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type {
  AttemptStory,
  RequestRow,
  RequestStory,
  SentChanges,
  SentPart,
  SentStory,
} from "../../wire/request-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { CopyButton, LinkButton } from "../parts/button.tsx";
import { Pairs } from "../parts/list.tsx";
import { Mark } from "../parts/signs.tsx";
import { countText, Loaded, LongText, Mono } from "../parts/text.tsx";
import { durationText, instantText } from "../parts/time.ts";
import { linkToTimeline, writeHash } from "../route/hash-route.ts";
import { requestKey } from "../state/session-model.ts";
import { useStore } from "../state/store.ts";
import { requestName, requestSign } from "../timeline/request-cells.tsx";

interface RequestPlace {
  session_id: string;
  run_id: string;
  request: number;
}

/** To be keyed by the request. */
export function RequestView(props: RequestPlace) {
  const { session_id, run_id, request } = props;
  const [before, setBefore] = useState<number>();
  const row = useStore(useInspector().session, (model) =>
    model?.requests.get(requestKey(run_id, request)),
  );
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/runs/:run_id/requests/:request",
    {
      path: { session_id, run_id, request: String(request) },
      query: before === undefined ? {} : { before: String(before) },
    },
    { version: row && [row.status, row.attempts, row.ended_at].join(" ") },
  );
  return (
    <div class="call request">
      <Loaded from={loaded} what="the request">
        {(story) => <Story story={story} place={props} onEarlier={setBefore} />}
      </Loaded>
    </div>
  );
}

function Story(props: {
  story: RequestStory;
  place: RequestPlace;
  onEarlier: (before: number) => void;
}) {
  const { story, place, onEarlier } = props;
  const [isExact, setIsExact] = useState(false);
  const { row, sent, attempts } = story;
  return (
    <>
      <RequestHead row={row} />
      <label class="quiet">
        <input
          type="checkbox"
          checked={isExact}
          onChange={(event) => setIsExact(event.currentTarget.checked)}
        />{" "}
        Show spaces and line ends
      </label>
      <Section name="Received">
        {attempts.map((attempt) => (
          <Attempt
            key={attempt.seq}
            attempt={attempt}
            place={place}
            isOnly={attempts.length === 1}
            isExact={isExact}
          />
        ))}
      </Section>
      {sent.state !== "not_recorded" && sent.changes !== undefined && (
        <Section name="Changes since the request before">
          <Changes changes={sent.changes} row={row} />
        </Section>
      )}
      <Section name="Sent">
        <Sent sent={sent} place={place} isExact={isExact} onEarlier={onEarlier} />
      </Section>
      <p class="fact-links">
        {attempts.map(({ seq }) => (
          <a
            key={seq}
            class="mono"
            href={writeHash({ view: "session", session_id: story.session_id, tab: "facts", seq })}
          >
            #{seq}
          </a>
        ))}
      </p>
    </>
  );
}

function Section({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <section class="call-part" aria-label={name}>
      <h3>{name}</h3>
      {children}
    </section>
  );
}

function RequestHead({ row }: { row: RequestRow }) {
  const isLive = useStore(useInspector().session, (model) => model?.session?.live !== undefined);
  const { usage = {}, cost, currency = "", first_token_at, attempted_at, ended_at } = row;
  const count = (value: number | undefined) => value !== undefined && countText(value);
  return (
    <header class="call-head">
      <h2>{requestName(row)}</h2>
      <p>
        <Mark sign={requestSign(row, isLive)} />
        {row.error !== undefined && <>: {visibleLine(row.error)}</>}
      </p>
      <Pairs
        pairs={[
          ["Asked at", instantText(row.started_at)],
          [
            "First token",
            first_token_at === undefined
              ? "not recorded"
              : `after ${durationText(first_token_at - attempted_at)}`,
          ],
          ["Took", ended_at !== undefined && durationText(ended_at - row.started_at)],
          ["Input tokens", count(usage.input_tokens)],
          ["From the cache", count(usage.cache_read_tokens)],
          ["Output tokens", count(usage.output_tokens)],
          ["Reasoning tokens", count(usage.reasoning_tokens)],
          [
            "Cost",
            typeof cost === "number" ? `${cost.toFixed(6)} ${currency}` : ended_at && "unknown",
          ],
          ["Attempts", row.attempts > 1 && countText(row.attempts)],
          [
            "Fallbacks",
            row.fallbacks
              ?.map(({ from, to, reason }) => visibleLine(`${from} → ${to}: ${reason}`))
              .join("; "),
          ],
        ]}
      />
    </header>
  );
}

function Attempt(props: {
  attempt: AttemptStory;
  place: RequestPlace;
  isOnly: boolean;
  isExact: boolean;
}) {
  const { attempt, place, isOnly, isExact } = props;
  const { text, reasoning, calls, stop, error, provider_data } = attempt;
  return (
    <div class="attempt">
      {!isOnly && (
        <h4>
          Attempt {attempt.attempt}, {visibleLine(attempt.model)}
        </h4>
      )}
      {error !== undefined && <p>Failed: {visibleLine(error)}</p>}
      <TextOf name="Reasoning" text={reasoning} isExact={isExact} />
      <TextOf name="Text" text={text} isExact={isExact} />
      {calls.map(({ tool_call_id, name, arguments: sent, is_partial }, index) => (
        <div key={index}>
          <p>
            {tool_call_id === undefined ? (
              <Mono text={name} />
            ) : (
              <a href={linkToTimeline({ ...place, tool_call_id })}>
                <Mono text={name} />
              </a>
            )}
            {is_partial && <span class="quiet"> not finished</span>}
          </p>
          <TextOf name={`Arguments of ${name}`} text={sent} isExact={isExact} />
        </div>
      ))}
      <TextOf name="Data of the provider" text={provider_data} isExact={isExact} />
      {stop !== undefined && <p class="quiet">Ended with {visibleLine(stop)}.</p>}
    </div>
  );
}

function TextOf(props: { name: string; text: string | undefined; isExact: boolean }) {
  const { name, text, isExact } = props;
  if (text === undefined || text === "") return null;
  return (
    <div>
      <p class="quiet">
        {visibleLine(name)}, {countText(text.length)} characters{" "}
        <CopyButton text={text} what={name} />
      </p>
      <LongText label={name} text={isExact ? showSpaces(text) : text} />
    </div>
  );
}

/** Signs for what cannot be seen. */
function showSpaces(text: string): string {
  return text
    .replaceAll(" ", "·")
    .replaceAll("\t", "→\t")
    .replaceAll("\r", "␍")
    .replaceAll("\n", "¶\n");
}

function Changes({ changes, row }: { changes: SentChanges; row: RequestRow }) {
  const { same_tokens, all_tokens, request } = changes;
  const share = all_tokens === 0 ? 100 : Math.floor((same_tokens / all_tokens) * 100);
  const cached = row.usage?.cache_read_tokens;
  const list = (items: readonly string[]) =>
    items.length === 0 ? "nothing" : items.map(visibleLine).join(", ");
  return (
    <Pairs
      pairs={[
        ["Before it", `request ${request}`],
        ["New", list(changes.added)],
        ["No longer sent", list(changes.removed)],
        [
          "Same from the start",
          `about ${countText(same_tokens)} of ${countText(all_tokens)} tokens (${share} %): what a provider's cache can reuse`,
        ],
        [
          "Reported as cached",
          cached === undefined ? "not reported" : `${countText(cached)} tokens`,
        ],
      ]}
    />
  );
}

function Sent(props: {
  sent: SentStory;
  place: RequestPlace;
  isExact: boolean;
  onEarlier: (before: number) => void;
}) {
  const { sent, place, isExact, onEarlier } = props;
  if (sent.state === "not_recorded") {
    return <p class="quiet">Not recorded. {visibleLine(sent.why)}</p>;
  }
  const { system, messages, tools, settings, earlier } = sent;
  const parts = (list: readonly SentPart[]) => (
    <ul class="parts">
      {list.map((part) => (
        <Part key={part.part} part={part} place={place} isExact={isExact} />
      ))}
    </ul>
  );
  return (
    <>
      <p class="quiet">
        {sent.state === "exact"
          ? "Exactly as it was sent: the digest on record is the same."
          : "This differs from what was sent: the digest on record is another one."}
      </p>
      <h4>System texts ({system.length})</h4>
      {parts(system)}
      <h4>Messages ({earlier + messages.length})</h4>
      {earlier > 0 && (
        <LinkButton onClick={() => onEarlier(earlier)}>
          Show those before, {countText(earlier)} in all
        </LinkButton>
      )}
      {parts(messages)}
      <h4>Tools ({tools.length})</h4>
      {parts(tools)}
      <h4>Settings</h4>
      <Pairs pairs={settings.map(([name, value]) => [name, visibleLine(value)])} />
    </>
  );
}

function Part({ part, place, isExact }: { part: SentPart; place: RequestPlace; isExact: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li>
      <LinkButton aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {visibleLine(part.name)}
      </LinkButton>{" "}
      <span class="quiet">
        {countText(part.chars)} characters{part.change && `, ${part.change}`}
      </span>
      {isOpen ? (
        <PartText part={part} place={place} isExact={isExact} />
      ) : (
        <div class="part-head quiet">{visibleLine(part.head)}</div>
      )}
    </li>
  );
}

function PartText(props: { part: SentPart; place: RequestPlace; isExact: boolean }) {
  const { part, place, isExact } = props;
  const { session_id, run_id, request } = place;
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/runs/:run_id/requests/:request/parts/:part",
    { path: { session_id, run_id, request: String(request), part: part.part } },
    {},
  );
  return (
    <Loaded from={loaded} what={part.name}>
      {({ text }) => <TextOf name={part.name} text={text} isExact={isExact} />}
    </Loaded>
  );
}
