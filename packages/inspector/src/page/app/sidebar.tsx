// The sessions at the left. On a phone they are the menu, below the views: it covers the page until something is chosen,
// or until it is closed with Escape, the way back or a touch beside it.

import { useRef } from "preact/hooks";
import { CloseButton } from "../parts/button.tsx";
import { Separator } from "../parts/columns.tsx";
import { useBackCloses, useCovering } from "../parts/phone.ts";
import { readHash } from "../route/hash-route.ts";
import { SessionList } from "../sessions/session-list.tsx";
import { PageButtons, ViewLinks } from "./header.tsx";
import { useInspector } from "./inspector.ts";
import { useKeys } from "./keys.ts";

interface SidebarProps {
  isPhone: boolean;
  isOpen: boolean;
  onClose: () => void;
  onHelp: () => void;
}

export function Sidebar(props: SidebarProps) {
  if (!props.isPhone) {
    return (
      <SessionList>
        <Separator name="sessions" />
      </SessionList>
    );
  }
  return props.isOpen ? <Menu {...props} /> : null;
}

function Menu({ onClose, onHelp }: SidebarProps) {
  const { about, go } = useInspector();
  const box = useRef<HTMLDivElement>(null);
  useCovering(box, true);
  useBackCloses(true, onClose);
  useKeys({ Escape: onClose });

  /** What is chosen takes the place of the menu, so that the way back leads to where one was before it. */
  function choose(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(readHash(link.hash), "replace");
    onClose();
    document.getElementById("main")?.focus();
  }

  return (
    <div class="menu" ref={box} role="dialog" aria-modal="true" aria-label="Menu" tabIndex={-1}>
      <div class="menu-shade" onClick={onClose} />
      <div class="menu-body" onClick={choose}>
        <div class="menu-head">
          <span class="name">Soong</span>
          <span class="gap" />
          <PageButtons onHelp={onHelp} />
          <CloseButton onClose={onClose} />
        </div>
        <ViewLinks />
        <SessionList />
        <p class="menu-foot quiet mono">
          soong {about.version}, home {about.home}
        </p>
      </div>
    </div>
  );
}
