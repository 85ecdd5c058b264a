// What a call would do, as the user is shown it: a diff with numbered lines, a command word by word, or text.

import { LinkButton } from "../parts/button.tsx";
import type { Preview } from "@soong/core";
import { exactLine } from "@soong/core/internal";
import { useMemo, useState } from "preact/hooks";
import { CutText, LongText } from "../parts/text.tsx";
import { CopyButton } from "./copy-button.tsx";
import { diffLines, type DiffLine } from "./diff-lines.ts";
import { shellWord } from "./words.ts";

export function PreviewView(props: { preview: Preview }) {
  const { preview } = props;
  switch (preview.kind) {
    case "diff":
      return <Diff path={preview.path} diff={preview.diff} />;
    case "command":
      return <Command argv={preview.argv} cwd={preview.cwd} />;
    case "text":
      return <LongText text={preview.text} label="What it would do" exact />;
  }
}

const LINES = 300;
const LONGEST_LINE = 2_000;

function Diff(props: { path: string; diff: string }) {
  const lines = useMemo(() => diffLines(props.diff), [props.diff]);
  const [limit, setLimit] = useState(LINES);
  const [added, removed] = useMemo(
    () =>
      (["added", "removed"] as const).map((one) => lines.filter(({ kind }) => kind === one).length),
    [lines],
  );
  return (
    <figure class="diff">
      <figcaption>
        <span class="mono">{exactLine(props.path)}</span>{" "}
        <span class="quiet">
          {added} added, {removed} removed
        </span>{" "}
        <CopyButton text={props.diff} what="the diff" />
      </figcaption>
      <div class="scroll-x">
        <table class="diff-lines">
          <colgroup>
            <col class="line-number" />
            <col class="line-number" />
            <col class="line-sign" />
            <col />
          </colgroup>
          <thead class="unseen">
            <tr>
              <th>Line before</th>
              <th>Line after</th>
              <th>Change</th>
              <th>Text</th>
            </tr>
          </thead>
          <tbody>
            {lines.slice(0, limit).map((line, index) => (
              <Line key={index} line={line} />
            ))}
          </tbody>
        </table>
      </div>
      {lines.length > limit && (
        <LinkButton onClick={() => setLimit(limit + LINES * 2)}>
          Show more: {lines.length - limit} of {lines.length} lines are not shown
        </LinkButton>
      )}
    </figure>
  );
}

const SIGNS = { added: "+", removed: "−", same: "", head: "", hunk: "", remark: "" } as const;
const HEARD = { added: "added", removed: "removed", same: "", head: "", hunk: "", remark: "" };

function Line(props: { line: DiffLine }) {
  const { line } = props;
  return (
    <tr class={`diff-${line.kind}`}>
      <td class="line-number">{"old" in line ? line.old : ""}</td>
      <td class="line-number">{"new" in line ? line.new : ""}</td>
      <td class="line-sign">
        <span aria-hidden="true">{SIGNS[line.kind]}</span>
        <span class="unseen">{HEARD[line.kind]}</span>
      </td>
      <td class="line-text">
        <CutText text={line.text} first={LONGEST_LINE} exact />
      </td>
    </tr>
  );
}

const WORDS = 200;

function Command(props: { argv: readonly string[]; cwd: string }) {
  const typed = props.argv.map(shellWord).join(" ");
  const [limit, setLimit] = useState(WORDS);
  return (
    <figure class="command">
      <figcaption>
        Runs in <span class="mono">{exactLine(props.cwd)}</span>{" "}
        <CopyButton text={typed} what="the command" />
      </figcaption>
      <ol class="argv" aria-label="The command, word by word">
        {props.argv.slice(0, limit).map((word, index) => (
          <li key={index} class="mono">
            <CutText text={shellWord(exactLine(word))} first={LONGEST_LINE} exact />
          </li>
        ))}
      </ol>
      {props.argv.length > limit && (
        <LinkButton onClick={() => setLimit(limit + WORDS * 2)}>
          Show more: {props.argv.length - limit} of {props.argv.length} words are not shown
        </LinkButton>
      )}
    </figure>
  );
}
