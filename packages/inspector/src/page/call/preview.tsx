// What a call would do, as the user is shown it: a diff with numbered lines, a command word by word, or text.

import type { Preview } from "@soong/core";
import { exactLine, shellWord } from "@soong/core/internal";
import { useMemo } from "preact/hooks";
import { CopyButton } from "../parts/button.tsx";
import { useFirst } from "../parts/list.tsx";
import { CutText, LongText } from "../parts/text.tsx";
import { diffLines, type DiffLine } from "./diff-lines.ts";

export function PreviewView({ preview }: { preview: Preview }) {
  switch (preview.kind) {
    case "diff":
      return <Diff {...preview} />;
    case "command":
      return <Command {...preview} />;
    case "text":
      return <LongText text={preview.text} label="What it would do" exact />;
  }
}

const LINES = 300;
const LONGEST_LINE = 2_000;

function Diff({ path, diff }: { path: string; diff: string }) {
  const lines = useMemo(() => diffLines(diff), [diff]);
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  const [shown, more] = useFirst(lines, LINES, "lines");
  return (
    <figure class="diff">
      <figcaption>
        <span class="mono">{exactLine(path)}</span>{" "}
        <span class="quiet">
          {count("added")} added, {count("removed")} removed
        </span>{" "}
        <CopyButton text={diff} what="the diff" />
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
            {shown.map((line, index) => (
              <Line key={index} line={line} />
            ))}
          </tbody>
        </table>
      </div>
      {more}
    </figure>
  );
}

function Line({ line }: { line: DiffLine }) {
  const { kind } = line;
  return (
    <tr class={`diff-${kind}`}>
      <td class="line-number">{"old" in line ? line.old : ""}</td>
      <td class="line-number">{"new" in line ? line.new : ""}</td>
      <td class="line-sign">
        <span aria-hidden="true">{kind === "added" ? "+" : kind === "removed" ? "−" : ""}</span>
        <span class="unseen">{kind === "added" || kind === "removed" ? kind : ""}</span>
      </td>
      <td class="line-text">
        <CutText text={line.text} first={LONGEST_LINE} exact />
      </td>
    </tr>
  );
}

const WORDS = 200;

function Command({ argv, cwd }: { argv: readonly string[]; cwd: string }) {
  const [shown, more] = useFirst(argv, WORDS, "words");
  return (
    <figure class="command">
      <figcaption>
        Runs in <span class="mono">{exactLine(cwd)}</span>{" "}
        <CopyButton text={argv.map(shellWord).join(" ")} what="the command" />
      </figcaption>
      <ol class="argv" aria-label="The command, word by word">
        {shown.map((word, index) => (
          <li key={index} class="mono">
            <CutText text={shellWord(exactLine(word))} first={LONGEST_LINE} exact />
          </li>
        ))}
      </ol>
      {more}
    </figure>
  );
}
