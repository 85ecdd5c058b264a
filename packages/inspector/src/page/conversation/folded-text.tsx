// A text of a message: its beginning, and all of it on demand. What is very long grows step by step, so that the page
// stays quick.

import { visible } from "@soong/core";
import { useState } from "preact/hooks";
import { useAction } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { LinkButton } from "../parts/button.tsx";
import { countText, nextCut, ProblemText } from "../parts/text.tsx";

const FIRST = 8_000;
/** With a little more than that it is whole. */
const SPARE = 2_000;
const STEP = 100_000;

export function FoldedText(props: {
  text: string;
  /** So many characters more than came. */
  cut: number;
  node: { readonly session_id: string; readonly node_id: string };
  isMarkdown: boolean;
}) {
  const { node, isMarkdown } = props;
  const { api } = useInspector();
  const [whole, setWhole] = useState<{ text: string; cut: number }>();
  const { text, cut } = whole ?? props;
  const [limit, setLimit] = useState(FIRST);
  const { isRunning, problem, run } = useAction();
  const end = text.length <= limit + SPARE ? text.length : nextCut(text, 0, limit);
  const left = text.length - end + cut;
  const shown = text.slice(0, end);

  const more = () =>
    void run(async () => {
      if (whole === undefined && cut > 0) {
        const item = await api.ask("GET /api/sessions/:session_id/nodes/:node_id", { path: node });
        const texts = item.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
        setWhole({ text: texts.join("\n\n"), cut: item.cut ?? 0 });
      }
      setLimit(limit === FIRST ? STEP : limit + STEP);
    });

  return (
    <>
      {isMarkdown ? <Markdown text={shown} /> : <div class="block">{visible(shown)}</div>}
      {left > 0 && (
        <p class="more-line">
          <LinkButton disabled={isRunning} onClick={more}>
            {left <= STEP ? "Show all" : "Show more"}
          </LinkButton>{" "}
          <span class="quiet">{countText(left)} characters are not shown</span>
        </p>
      )}
      <ProblemText text={problem} />
    </>
  );
}
