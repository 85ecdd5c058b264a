// A text from outside in the midst of others: its beginning, and more of it on demand. Of a text of megabytes the browser
// would lay out every line.

import { useState } from "preact/hooks";
import { nextCut } from "../call/text-slice.ts";
import { visible } from "@soong/core";
import { exactText } from "@soong/core/internal";

const FIRST = 2_000;
const STEP = 20_000;

export function CutText(props: {
  text: string;
  first?: number;
  /** For what is approved: nothing is left unseen, emoji neither. */
  exact?: boolean;
  /** In a tree the item has the focus, and its key presses the button. */
  isInTree?: boolean;
}) {
  const { text, first = FIRST } = props;
  const show = props.exact === true ? exactText : visible;
  const [end, setEnd] = useState(() => nextCut(text, 0, first));
  if (text.length <= end) return <>{show(text)}</>;
  return (
    <>
      {show(text.slice(0, end))}
      <button
        type="button"
        class="link"
        {...(props.isInTree === true ? { tabIndex: -1 } : {})}
        onClick={() => setEnd(nextCut(text, end, STEP))}
      >
        … {(text.length - end).toLocaleString("en")} characters more
      </button>
    </>
  );
}
