// A text of any length: the beginning, and more of it slice by slice, each an element of its own.

import { useEffect, useState } from "preact/hooks";
import { visible } from "@soong/core";
import { exactText } from "@soong/core/internal";
import { nextCut, sizeText } from "./text-slice.ts";

const STEP = 12_000;

export function LongText(props: {
  text: string;
  step?: number;
  label?: string;
  /** For what is approved: nothing is left unseen, emoji neither. */
  exact?: boolean;
}) {
  const { text, step = STEP } = props;
  const show = props.exact === true ? exactText : visible;
  const [cuts, setCuts] = useState<readonly number[]>([]);
  useEffect(() => setCuts([]), [text]);
  const ends = [nextCut(text, 0, step), ...cuts];
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
          <button
            type="button"
            class="link"
            onClick={() => setCuts([...cuts, nextCut(text, shown, step * 2)])}
          >
            Show more
          </button>{" "}
          <span class="quiet">
            {sizeText(shown)} of {sizeText(text.length)} shown
          </span>
        </p>
      )}
    </div>
  );
}
