// The keys of a tree: one of its items has the focus, the arrows lead to the others, and Tab leads past them.

const ITEM = "[role=treeitem]";
/** What opens an item, or shows more of it. */
const ACT = ":scope > .json-toggle, :scope > button, :scope > .json-text > button";

/** The item that has the focus is the one that Tab comes back to. */
export function onTreeFocus(event: FocusEvent): void {
  const { currentTarget: tree, target } = event;
  if (!(tree instanceof HTMLElement) || !(target instanceof Element)) return;
  const item = target.closest<HTMLElement>(ITEM);
  if (item === null) return;
  for (const before of tree.querySelectorAll<HTMLElement>(`${ITEM}[tabindex="0"]`)) {
    before.tabIndex = -1;
  }
  item.tabIndex = 0;
  // Of a button in it, too: what is shut with the pointer continues by key.
  if (target !== item) item.focus({ preventScroll: true });
}

export function onTreeKey(event: KeyboardEvent): void {
  const { currentTarget: tree, target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (!(tree instanceof HTMLElement) || !(target instanceof Element)) return;
  const item = target.closest<HTMLElement>(ITEM);
  if (item === null) return;
  const items = [...tree.querySelectorAll<HTMLElement>(ITEM)];
  const at = items.indexOf(item);
  const isOpen = item.getAttribute("aria-expanded");
  const act = () => item.querySelector<HTMLElement>(ACT)?.click();
  const actions: Readonly<Record<string, () => void>> = {
    ArrowDown: () => items[at + 1]?.focus(),
    ArrowUp: () => items[at - 1]?.focus(),
    Home: () => items[0]?.focus(),
    End: () => items[items.length - 1]?.focus(),
    ArrowRight: () => (isOpen === "true" ? items[at + 1]?.focus() : isOpen === "false" && act()),
    ArrowLeft: () =>
      isOpen === "true" ? act() : item.parentElement?.closest<HTMLElement>(ITEM)?.focus(),
    Enter: act,
    " ": act,
  };
  const action = Object.hasOwn(actions, key) ? actions[key] : undefined;
  if (action === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}
