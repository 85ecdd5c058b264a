// Texts from outside, of any length: the beginning, and more on demand. Of a text of megabytes the browser would lay out
// every line.

import { visible, visibleLine } from "@soong/core";
import { exactText } from "@soong/core/internal";
import { isHighSurrogate } from "@soong/schema";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Answer } from "../api/use-answer.ts";
import { LinkButton } from "./button.tsx";

const FIRST = 2_000;
const STEP = 20_000;
const SLICE = 12_000;

/** In the midst of other text. */
export function CutText(props: {
  text: string;
  first?: number;
  /** For what is approved: every character is shown, emoji as well. */
  exact?: boolean;
  /** In a tree the item has the focus, and its key presses the button. */
  isInTree?: boolean;
}) {
  const { text, first = FIRST } = props;
  const show = props.exact ? exactText : visible;
  const [end, setEnd] = useState(() => nextCut(text, 0, first));
  if (text.length <= end) return <>{show(text)}</>;
  return (
    <>
      {show(text.slice(0, end))}
      <LinkButton
        tabIndex={props.isInTree ? -1 : undefined}
        onClick={() => setEnd(nextCut(text, end, STEP))}
      >
        … {countText(text.length - end)} characters more
      </LinkButton>
    </>
  );
}

/** A paragraph as it was written; nothing where there is none. */
export function Prose({ text, isQuiet }: { text: string | undefined; isQuiet?: boolean }) {
  if (!text) return null;
  return (
    <p class={isQuiet ? "prose quiet" : "prose"}>
      <CutText text={text} />
    </p>
  );
}

/** A name or a path, in one line. */
export function Mono({ text = "" }: { text: string | undefined }) {
  return <span class="mono">{visibleLine(text)}</span>;
}

/** A block that grows slice by slice, each an element of its own. */
export function LongText(props: { text: string; label?: string; exact?: boolean }) {
  const { text } = props;
  const show = props.exact ? exactText : visible;
  const [cuts, setCuts] = useState<readonly number[]>([]);
  useEffect(() => setCuts([]), [text]);
  const ends = [nextCut(text, 0, SLICE), ...cuts];
  const shown = Math.min(ends.at(-1) ?? 0, text.length);
  return (
    <div class="long-text">
      <pre class="code" aria-label={props.label}>
        {ends.map((end, index) => (
          <span key={end} class="slice">
            {show(text.slice(ends[index - 1] ?? 0, end))}
          </span>
        ))}
        {text === "" && <span class="quiet">(empty)</span>}
      </pre>
      {shown < text.length && (
        <p class="more-line">
          <LinkButton onClick={() => setCuts([...cuts, nextCut(text, shown, SLICE * 2)])}>
            Show more
          </LinkButton>{" "}
          <span class="quiet">
            {sizeText(shown)} of {sizeText(text.length)} shown
          </span>
        </p>
      )}
    </div>
  );
}

/** Why something failed; nothing where it did not. */
export function ProblemText(props: { text: string | undefined; onRetry?: () => void }) {
  if (props.text === undefined) return null;
  return (
    <p class="problem" role="alert">
      <span aria-hidden="true">⚠ </span>
      <CutText key={props.text} text={props.text} />{" "}
      {props.onRetry && <LinkButton onClick={props.onRetry}>Try again</LinkButton>}
    </p>
  );
}

/** What was asked for, once it is there; above it or instead of it, that it is being asked for or why there is none. */
export function Loaded<Value>(props: {
  from: Answer<Value>;
  what: string;
  children?: (value: Value) => ComponentChildren;
}) {
  const { value, problem, is_loading, reload } = props.from;
  const isFirst = problem === undefined && value === undefined && is_loading;
  return (
    <>
      <ProblemText text={problem} onRetry={reload} />
      {isFirst && <p class="quiet">Loading {props.what}…</p>}
      {value !== undefined && props.children?.(value)}
    </>
  );
}

/** Where a text of which `from` characters are shown is cut next: at a line's end near the limit, else between characters. */
export function nextCut(text: string, from: number, step: number): number {
  const wanted = from + step;
  if (wanted >= text.length) return text.length;
  const lineEnd = text.lastIndexOf("\n", wanted);
  // A line's end far before it would show hardly more than was there.
  if (lineEnd > from + step / 2) return lineEnd + 1;
  return isHighSurrogate(text.charCodeAt(wanted - 1)) ? wanted + 1 : wanted;
}

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export function countText(count: number): string {
  return count.toLocaleString("en");
}

/** A word of a record: `sub_agent` is `sub agent`. */
export function spacedText(word: string): string {
  return visibleLine(word.replaceAll("_", " "));
}

/** A predicate for texts that have all the words someone typed. */
export function createMatcher(typed: string): (text: string) => boolean {
  const words = splitWords(typed);
  return (text) => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
}

export function splitWords(typed: string): string[] {
  return typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
}
