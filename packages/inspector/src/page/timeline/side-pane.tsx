// Beside the timeline: the conversation, or the details of what was chosen.

import type { ComponentChildren } from "preact";
import { CloseButton } from "../parts/close-button.tsx";

export type SideShown = "conversation" | "details" | "closed";

export function SidePane(props: {
  shown: SideShown;
  hasDetails: boolean;
  onShow: (shown: SideShown) => void;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const { shown, hasDetails, onShow } = props;
  return (
    <section class="side" aria-label={shown === "details" ? "Details" : "Conversation"}>
      <div class="side-head">
        <button
          type="button"
          class="side-tab"
          aria-pressed={shown === "conversation"}
          onClick={() => onShow("conversation")}
        >
          Conversation
        </button>
        {hasDetails && (
          <button
            type="button"
            class="side-tab"
            aria-pressed={shown === "details"}
            onClick={() => onShow("details")}
          >
            Details
          </button>
        )}
        <span class="gap" />
        <CloseButton onClose={props.onClose} />
      </div>
      <div class="side-body">{props.children}</div>
    </section>
  );
}
