// Definitions that a server changed after they were allowed (MCP-7). What is accepted is what is shown: the server is sent
// back exactly these lines and hashes.

import { visibleLine } from "@soong/core";
import { useRef } from "preact/hooks";
import type { ChangedTool } from "../../wire/home-records.ts";
import { Button } from "../parts/button.tsx";
import { Mono } from "../parts/text.tsx";
import { useAnswerGuard, waitMark } from "../questions/answer-guard.ts";

export function ChangedTools(props: {
  changes: readonly ChangedTool[];
  /** What was accepted may be shown for as long as it takes to ask again. */
  isResting: boolean;
  onAccept: (shown: readonly ChangedTool[]) => void;
}) {
  const { changes, isResting } = props;
  const place = useRef<HTMLDivElement>(null);
  const { waiting, isMeant } = useAnswerGuard(() => place.current, JSON.stringify(changes));
  const resting = {
    "aria-disabled": isResting || waiting.click,
    ...waitMark(waiting.click, waiting),
  };

  /** What came under the pointer just now was not read. */
  function accept(shown: readonly ChangedTool[]): void {
    if (!isResting && isMeant("click")) props.onAccept(shown);
  }

  return (
    <div ref={place}>
      <p>
        ⚠ {changes.length === 1 ? "One definition is" : `${changes.length} definitions are`} not as
        allowed. What changed is held back until you accept it as it is now.
      </p>
      {changes.map((tool) => (
        <section key={tool.tool_name} class="changed-tool" aria-label={tool.tool_name}>
          <h3>
            <Mono text={tool.tool_name} />{" "}
            <span class="quiet mono" title={tool.hash}>
              {visibleLine(tool.hash.slice(0, 16))}
            </span>
          </h3>
          <pre class="code">{tool.changes.map((line) => `${visibleLine(line)}\n`)}</pre>
          <Button {...resting} onClick={() => accept([tool])}>
            Accept this as it is shown
          </Button>
        </section>
      ))}
      {changes.length > 1 && (
        <Button {...resting} onClick={() => accept(changes)}>
          Accept all {changes.length} as they are shown
        </Button>
      )}
    </div>
  );
}
