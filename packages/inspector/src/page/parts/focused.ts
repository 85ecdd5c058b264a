// A ref that gives its element the focus when it appears: once, not each time it is drawn.

export function focusedOnce(element: HTMLElement | null): void {
  element?.focus();
}
