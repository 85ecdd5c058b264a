// A JSON value as a tree that opens level by level: a huge one costs only what of it is open. One of its items has the
// focus, the arrows lead to the others, and Tab leads past them.

import { visibleLine } from "@soong/core";
import { useId, useState } from "preact/hooks";
import { useFirst } from "./list.tsx";
import { CutText } from "./text.tsx";

export function JsonTree(props: { value: unknown; label: string; open?: number }) {
  return (
    <ul class="json" role="tree" aria-label={props.label} onFocusIn={onFocus} onKeyDown={onKey}>
      <JsonNode value={props.value} open={props.open ?? 1} isTop />
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
  isTop?: boolean;
}

function JsonNode(props: NodeProps) {
  const { name, value, isTop } = props;
  const entries = listEntries(value);
  if (entries !== undefined && entries.length > 0) return <Branch {...props} entries={entries} />;
  return (
    <li role="treeitem" tabIndex={isTop ? 0 : -1} class="json-leaf">
      <Name name={name} />
      {entries !== undefined ? (
        <span class="json-mark">{Array.isArray(value) ? "[]" : "{}"}</span>
      ) : typeof value === "string" ? (
        <span class="json-text">
          <CutText text={value} first={LONGEST_TEXT} isInTree />
        </span>
      ) : (
        <span class="json-value">{String(value)}</span>
      )}
    </li>
  );
}

function Branch(props: NodeProps & { entries: readonly [string, unknown][] }) {
  const { name, entries, open } = props;
  const [isOpen, setOpen] = useState(open > 0);
  const [shown, more] = useFirst(entries, MOST_AT_ONCE, "", { tabIndex: -1 });
  const isList = Array.isArray(props.value);
  const [before, after] = isList ? ["[", "]"] : ["{", "}"];
  const kind = `${isList ? "list" : "object"} of ${entries.length}`;
  const group = useId();
  return (
    <li role="none">
      <div
        role="treeitem"
        class="json-toggle"
        tabIndex={props.isTop ? 0 : -1}
        aria-expanded={isOpen}
        aria-owns={isOpen ? group : undefined}
        aria-label={name === undefined ? kind : `${visibleLine(name)}: ${kind}`}
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true" class="twisty">
          {isOpen ? "▾" : "▸"}
        </span>
        <Name name={name} />
        <span class="json-mark">{isOpen ? before : kind}</span>
      </div>
      {isOpen && (
        <ul role="group" id={group}>
          {shown.map(([name, value]) => (
            <JsonNode key={name} name={name} value={value} open={open - 1} />
          ))}
          {more && (
            <li role="treeitem" tabIndex={-1}>
              {more}
            </li>
          )}
        </ul>
      )}
      {isOpen && (
        <span class="json-mark" aria-hidden="true">
          {after}
        </span>
      )}
    </li>
  );
}

function Name({ name }: { name: string | undefined }) {
  return name === undefined ? null : <span class="json-name">{visibleLine(name)}: </span>;
}

export function listEntries(value: unknown): readonly [string, unknown][] | undefined {
  return typeof value === "object" && value !== null ? Object.entries(value) : undefined;
}

const ITEM = "[role=treeitem]";
/** What shows more of an item that does not open. */
const MORE = ":scope > button, :scope > .json-text > button";

function itemAt({ currentTarget: tree, target }: Event) {
  if (!(tree instanceof HTMLElement) || !(target instanceof Element)) return undefined;
  const item = target.closest<HTMLElement>(ITEM);
  return item === null ? undefined : { tree, item };
}

/** The item that has the focus is the one that Tab comes back to. */
function onFocus(event: FocusEvent): void {
  const at = itemAt(event);
  if (at === undefined) return;
  for (const before of at.tree.querySelectorAll<HTMLElement>(`${ITEM}[tabindex="0"]`)) {
    before.tabIndex = -1;
  }
  at.item.tabIndex = 0;
  // Of a button in it, too: what is shut with the pointer continues by key.
  if (event.target !== at.item) at.item.focus({ preventScroll: true });
}

function onKey(event: KeyboardEvent): void {
  const found = itemAt(event);
  if (found === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const { tree, item } = found;
  const items = [...tree.querySelectorAll<HTMLElement>(ITEM)];
  const at = items.indexOf(item);
  const isOpen = item.getAttribute("aria-expanded");
  const act = () => (isOpen === null ? item.querySelector<HTMLElement>(MORE) : item)?.click();
  const around = () =>
    item.closest("[role=group]")?.parentElement?.querySelector<HTMLElement>(ITEM)?.focus();
  const actions: Readonly<Record<string, () => void>> = {
    ArrowDown: () => items[at + 1]?.focus(),
    ArrowUp: () => items[at - 1]?.focus(),
    Home: () => items[0]?.focus(),
    End: () => items[items.length - 1]?.focus(),
    ArrowRight: () => (isOpen === "true" ? items[at + 1]?.focus() : isOpen === "false" && act()),
    ArrowLeft: () => (isOpen === "true" ? act() : around()),
    Enter: act,
    " ": act,
  };
  if (!Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  actions[event.key]?.();
}
