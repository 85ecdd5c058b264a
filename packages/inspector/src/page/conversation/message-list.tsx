// The messages of a conversation, oldest first, and the answer that is being written. There may be thousands: those far
// from what is seen are not in the document.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ConversationItem } from "../../wire/session-records.ts";
import { useInspector } from "../app/inspector.ts";
import { OpenMarkdown } from "../markdown/markdown.tsx";
import { LinkButton } from "../parts/button.tsx";
import { countText, ProblemText } from "../parts/text.tsx";
import type { SessionRoute } from "../route/hash-route.ts";
import { callKey, type SessionModel } from "../state/session-model.ts";
import { useStore } from "../state/store.ts";
import { Message } from "./message.tsx";
import type { useConversation } from "./use-conversation.ts";

const CHUNK = 40;
const NEAR_PX = 2_000;

export function MessageList(props: {
  conversation: ReturnType<typeof useConversation>;
  model: SessionModel;
  route: SessionRoute;
  agent_id: string;
  onEdit?: ((item: ConversationItem) => void) | undefined;
}) {
  const { conversation, model, route, agent_id, onEdit } = props;
  const { items, older, isLoading } = conversation;
  const written = useWrittenAnswers(model, agent_id, conversation);
  // Filled in place: a message is drawn again for its own results only.
  const results = useRef(new Map<string, ConversationItem>()).current;
  const chunks = useMemo(() => {
    for (const item of items) {
      if (item.kind === "tool_result") {
        results.set(callKey(item.run_id, item.tool_call_id ?? ""), item);
      }
    }
    return chunkItems(items, older);
  }, [items, older]);
  const box = useRef<HTMLDivElement>(null);
  const isLive = model.session?.live !== undefined;
  useKeptPlace(box, items[0]?.node_id);
  useStickToEnd(box, route.tool_call_id !== undefined || route.node_id !== undefined);
  useOlderAtTop(box, older > 0 && !conversation.isLoadingOlder, conversation.loadOlder);

  return (
    <div class="messages" ref={box}>
      {isLoading && <p class="quiet">Loading the conversation…</p>}
      <ProblemText text={conversation.problem} onRetry={conversation.retry} />
      {older > 0 && (
        <LinkButton disabled={conversation.isLoadingOlder} onClick={conversation.loadOlder}>
          Show older messages ({countText(older)})
        </LinkButton>
      )}
      {chunks.map(([key, some]) => (
        <Chunk key={key}>
          {some.map((item) => (
            <Message
              key={item.node_id}
              item={item}
              session_id={model.session_id}
              chosen={route}
              lanes={model.lanes}
              version={versionOf(item, model, results)}
              results={results}
              isLive={isLive}
              onEdit={item.role === "user" && item.kind === "message" ? onEdit : undefined}
            />
          ))}
        </Chunk>
      ))}
      {written.map(({ node_id, text }) => (
        <article key={node_id} class="message assistant" aria-busy="true">
          <h2>
            Model <span class="quiet">is writing</span>
          </h2>
          <OpenMarkdown text={text} />
        </article>
      ))}
      {!isLoading && items.length === 0 && written.length === 0 && (
        <p class="quiet">No messages yet.</p>
      )}
    </div>
  );
}

/** Answers of the agent's runs that are not among the messages yet. */
function useWrittenAnswers(
  { runs }: SessionModel,
  agent_id: string,
  { items, version }: Pick<ReturnType<typeof useConversation>, "items" | "version">,
) {
  const texts = useStore(useInspector().texts);
  return [...texts.values()].filter(({ run_id, node_id }) => {
    const run = runs.get(run_id);
    if (run?.agent_id !== agent_id) return false;
    if (items.findLast((item) => item.node_id === node_id) !== undefined) return false;
    // After its end it stays until the messages were read again: then it is among them, or was given up.
    return run.ended_at === undefined || (version ?? 0) < run.last_seq;
  });
}

/** Results are shown with their call, where that is there, and are no messages of their own. */
export function isResultOfCall(items: readonly ConversationItem[]) {
  const called = new Set(
    items.flatMap(({ run_id, calls = [] }) =>
      calls.map(({ tool_call_id = "" }) => callKey(run_id, tool_call_id)),
    ),
  );
  return ({ kind, run_id, tool_call_id }: ConversationItem): boolean =>
    kind === "tool_result" &&
    tool_call_id !== undefined &&
    called.has(callKey(run_id, tool_call_id));
}

/** By their place in the whole: older ones leave the chunks after them as they are. */
export function chunkItems(items: readonly ConversationItem[], older: number) {
  const isResult = isResultOfCall(items);
  const chunks = new Map<number, ConversationItem[]>();
  for (const [index, item] of items.entries()) {
    if (isResult(item)) continue;
    const key = Math.floor((older + index) / CHUNK);
    const chunk = chunks.get(key);
    if (chunk === undefined) chunks.set(key, [item]);
    else chunk.push(item);
  }
  return [...chunks];
}

/** What a message is drawn from beside itself: lanes and results change in place. */
function versionOf(
  { calls, run_id }: ConversationItem,
  { lanes }: SessionModel,
  results: ReadonlyMap<string, ConversationItem>,
): number {
  let version = 0;
  for (const { tool_call_id = "" } of calls ?? []) {
    const key = callKey(run_id, tool_call_id);
    const lane = lanes.get(key);
    if (results.has(key)) version += 1;
    if (lane !== undefined) version += 1 + lane.spans.length + (lane.ended_seq ?? 0);
  }
  return version;
}

/** Far from what is seen it is as high as it was, and empty. */
function Chunk({ children }: { children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  const height = useRef(0);
  const [isNear, setNear] = useState(true);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry === undefined) return;
        // Without a picture there is nothing to measure.
        if (entry.boundingClientRect.width === 0) return;
        if (!entry.isIntersecting) height.current = entry.boundingClientRect.height;
        setNear(entry.isIntersecting);
      },
      { root: findScroller(element), rootMargin: `${NEAR_PX}px 0px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div class="chunk" ref={place} style={isNear ? undefined : { height: `${height.current}px` }}>
      {isNear && children}
    </div>
  );
}

function findScroller(element: HTMLElement | null): HTMLElement | null {
  return element?.closest<HTMLElement>(".side-body, .conversation-scroll") ?? null;
}

/** Older messages are put above what is seen, and that stays where it is. */
function useKeptPlace(box: { current: HTMLElement | null }, first: string | undefined): void {
  const before = useRef<{ first: string; height: number }>(undefined);
  useLayoutEffect(() => {
    const scroller = findScroller(box.current);
    if (scroller === null || first === undefined) return;
    const { scrollHeight: height, scrollTop } = scroller;
    const isMore = before.current !== undefined && before.current.first !== first;
    // Further down the browser does so itself.
    if (isMore && scrollTop < 100) scroller.scrollTop += height - (before.current?.height ?? 0);
    before.current = { first, height };
  });
}

/** At the top the next older ones are asked for. */
function useOlderAtTop(
  box: { current: HTMLElement | null },
  isWanted: boolean,
  load: () => void,
): void {
  const latest = useRef({ isWanted, load });
  latest.current = { isWanted, load };
  useEffect(() => {
    const scroller = findScroller(box.current);
    if (scroller === null) return;
    const look = () => {
      const { isWanted, load } = latest.current;
      if (isWanted && scroller.scrollTop < 40 && scroller.scrollHeight > scroller.clientHeight) {
        load();
      }
    };
    scroller.addEventListener("scroll", look, { passive: true });
    return () => scroller.removeEventListener("scroll", look);
  }, []);
}

const NEAR_END_PX = 80;

/** What is new is followed by those who are at the end, and by no one else. */
function useStickToEnd(box: { current: HTMLElement | null }, looksElsewhere: boolean): void {
  const isFollowed = useRef(true);
  const isElsewhere = useRef(looksElsewhere);
  isElsewhere.current = looksElsewhere;
  useLayoutEffect(() => {
    const content = box.current;
    const scroller = findScroller(content);
    if (content === null || scroller === null) return;
    let top = scroller.scrollTop;
    const look = () => {
      const left = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;
      // What grows below moves no one; only who scrolls up has left the end.
      if (left < NEAR_END_PX) isFollowed.current = true;
      else if (scroller.scrollTop < top - 2) isFollowed.current = false;
      top = scroller.scrollTop;
    };
    /** What is opened here is looked at here. */
    const leave = ({ target }: Event) => {
      if (target instanceof Element && target.closest("button, summary") !== null) {
        isFollowed.current = false;
      }
    };
    const observer = new ResizeObserver(() => {
      if (isFollowed.current && !isElsewhere.current) scroller.scrollTop = scroller.scrollHeight;
    });
    observer.observe(content);
    observer.observe(scroller);
    content.addEventListener("click", leave);
    scroller.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      content.removeEventListener("click", leave);
      scroller.removeEventListener("scroll", look);
    };
  }, []);
}
