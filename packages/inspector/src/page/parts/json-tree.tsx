// A JSON value as a tree that opens level by level: a huge one costs only what of it is open.

import { LinkButton } from "./button.tsx";
import { useState } from "preact/hooks";
import { CutText } from "./text.tsx";
import { onTreeFocus, onTreeKey } from "./tree-keys.ts";
import { visibleLine } from "@soong/core";

export function JsonTree(props: { value: unknown; label?: string; open?: number }) {
  return (
    <ul
      class="json"
      role="tree"
      aria-label={props.label ?? "JSON"}
      onFocusIn={onTreeFocus}
      onKeyDown={onTreeKey}
    >
      <JsonNode value={props.value} open={props.open ?? 1} is_top={true} />
    </ul>
  );
}

const MOST_AT_ONCE = 100;
const LONGEST_TEXT = 1_000;

interface NodeProps {
  name?: string;
  value: unknown;
  /** So many levels are open. */
  open: number;
  /** Where Tab leads to; from there on it is the item that had the focus last. */
  is_top?: boolean;
}

function JsonNode(props: NodeProps) {
  const entries = entriesOf(props.value);
  if (entries !== undefined && entries.length > 0) return <Branch {...props} entries={entries} />;
  return (
    <li role="treeitem" tabIndex={props.is_top === true ? 0 : -1} class="json-leaf">
      <Name name={props.name} />
      {entries === undefined ? (
        <Leaf value={props.value} />
      ) : (
        <span class="json-mark">{Array.isArray(props.value) ? "[]" : "{}"}</span>
      )}
    </li>
  );
}

function Branch(props: NodeProps & { entries: readonly [string, unknown][] }) {
  const { name, entries } = props;
  const [isOpen, setOpen] = useState(props.open > 0);
  const [shown, setShown] = useState(MOST_AT_ONCE);
  const isList = Array.isArray(props.value);
  const [before, after] = isList ? ["[", "]"] : ["{", "}"];
  // Else it would be called by all that is in it.
  const called = `${name === undefined ? "" : `${visibleLine(name)}: `}${isList ? "list" : "object"} of ${entries.length}`;
  return (
    <li
      role="treeitem"
      tabIndex={props.is_top === true ? 0 : -1}
      aria-expanded={isOpen}
      aria-label={called}
    >
      <button type="button" class="json-toggle" tabIndex={-1} onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true" class="twisty">
          {isOpen ? "▾" : "▸"}
        </span>
        <Name name={name} />
        <span class="json-mark">{isOpen ? before : `${before} ${entries.length} ${after}`}</span>
      </button>
      {isOpen && (
        <ul role="group">
          {entries.slice(0, shown).map(([name, value]) => (
            <JsonNode key={name} name={name} value={value} open={props.open - 1} />
          ))}
          {entries.length > shown && (
            <li role="treeitem" tabIndex={-1}>
              <LinkButton tabIndex={-1} onClick={() => setShown(shown + MOST_AT_ONCE)}>
                {entries.length - shown} more
              </LinkButton>
            </li>
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
  if (typeof props.value !== "string") {
    return <span class="json-value">{String(props.value)}</span>;
  }
  return (
    <span class="json-text">
      <CutText text={props.value} first={LONGEST_TEXT} isInTree={true} />
    </span>
  );
}

function entriesOf(value: unknown): readonly [string, unknown][] | undefined {
  return typeof value === "object" && value !== null ? Object.entries(value) : undefined;
}
