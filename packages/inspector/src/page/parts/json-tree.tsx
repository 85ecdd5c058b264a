// A JSON value as a tree that opens level by level: a huge one costs only what of it is open.

import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { visible, visibleLine } from "./visible.ts";

export function JsonTree(props: { value: unknown; label?: string; open?: number }) {
  return (
    <ul class="json" role="tree" aria-label={props.label ?? "JSON"}>
      <JsonNode value={props.value} open={props.open ?? 1} />
    </ul>
  );
}

const MOST_AT_ONCE = 100;
const LONGEST_TEXT = 1_000;

function JsonNode(props: { name?: string; value: unknown; open: number }) {
  const entries = entriesOf(props.value);
  if (entries === undefined) {
    return (
      <li role="treeitem" class="json-leaf">
        <Name name={props.name} />
        <Leaf value={props.value} />
      </li>
    );
  }
  return <Branch name={props.name} value={props.value} entries={entries} open={props.open} />;
}

function Branch(props: {
  name: string | undefined;
  value: unknown;
  entries: readonly [string, unknown][];
  open: number;
}) {
  const [isOpen, setOpen] = useState(props.open > 0);
  const [shown, setShown] = useState(MOST_AT_ONCE);
  const [before, after] = Array.isArray(props.value) ? ["[", "]"] : ["{", "}"];
  if (props.entries.length === 0) {
    return (
      <li role="treeitem" class="json-leaf">
        <Name name={props.name} />
        <span class="json-mark">{before + after}</span>
      </li>
    );
  }
  return (
    <li role="treeitem" aria-expanded={isOpen}>
      <button type="button" class="json-toggle" onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true" class="twisty">
          {isOpen ? "▾" : "▸"}
        </span>
        <Name name={props.name} />
        <span class="json-mark">
          {isOpen ? before : `${before} ${props.entries.length} ${after}`}
        </span>
      </button>
      {isOpen && (
        <ul role="group">
          {props.entries.slice(0, shown).map(([name, value]) => (
            <JsonNode key={name} name={name} value={value} open={props.open - 1} />
          ))}
          {props.entries.length > shown && (
            <More onClick={() => setShown(shown + MOST_AT_ONCE)}>
              {props.entries.length - shown} more
            </More>
          )}
        </ul>
      )}
      {isOpen && <span class="json-mark">{after}</span>}
    </li>
  );
}

function Name(props: { name: string | undefined }) {
  if (props.name === undefined) return null;
  return <span class="json-name">{visibleLine(props.name)}: </span>;
}

function Leaf(props: { value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof props.value !== "string") {
    return <span class="json-value">{String(props.value)}</span>;
  }
  const text = props.value;
  const isCut = !isWhole && text.length > LONGEST_TEXT;
  return (
    <span class="json-text">
      {visible(isCut ? text.slice(0, LONGEST_TEXT) : text)}
      {isCut && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          … {text.length - LONGEST_TEXT} characters more
        </button>
      )}
    </span>
  );
}

function More(props: { onClick: () => void; children: ComponentChildren }) {
  return (
    <li role="none">
      <button type="button" class="link" onClick={props.onClick}>
        {props.children}
      </button>
    </li>
  );
}

function entriesOf(value: unknown): readonly [string, unknown][] | undefined {
  return typeof value === "object" && value !== null ? Object.entries(value) : undefined;
}
