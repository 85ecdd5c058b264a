// The pane beside a list, with what was chosen there. On a phone it covers the page, with the way back at its top.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Button, CloseButton } from "./button.tsx";
import { Separator } from "./columns.tsx";
import { useCovering, usePhone } from "./phone.ts";

export function SidePane(props: {
  label: string;
  head: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const isPhone = usePhone();
  const box = useRef<HTMLElement>(null);
  useCovering(box, isPhone);
  return (
    <>
      <Separator name="side" />
      <section
        ref={box}
        class="side"
        aria-label={props.label}
        tabIndex={-1}
        {...(isPhone ? { role: "dialog", "aria-modal": true } : {})}
      >
        <div class="side-head">
          {isPhone && <Button onClick={props.onClose}>← Back</Button>}
          {props.head}
          <span class="gap" />
          {!isPhone && <CloseButton onClose={props.onClose} />}
        </div>
        <div class="side-body">{props.children}</div>
      </section>
    </>
  );
}
