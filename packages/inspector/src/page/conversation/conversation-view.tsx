// A session as what was said in it, with the composer at its end.

import { useCallback, useRef, useState } from "preact/hooks";
import type { ConversationItem } from "../../wire/session-records.ts";
import { useInspector } from "../app/inspector.ts";
import { useKeys } from "../app/keys.ts";
import { Composer } from "../composer/composer.tsx";
import { findSendState } from "../composer/why-not.ts";
import type { SessionRoute } from "../route/hash-route.ts";
import type { SessionModel } from "../state/session-model.ts";
import { ConversationPane } from "./conversation-pane.tsx";

export function ConversationView({ route, model }: { route: SessionRoute; model: SessionModel }) {
  const { about, go } = useInspector();
  const [edited, setEdited] = useState<ConversationItem>();
  const onEdit = useCallback((item: ConversationItem) => setEdited(item), []);
  const scroller = useRef<HTMLDivElement>(null);
  const [lastModel, setLastModel] = useState<string>();
  useKeys({ v: () => go({ ...route, tab: "timeline" }) });
  const canEdit = findSendState(about, model.session).can === "start";
  return (
    <div class="conversation-view">
      <div class="conversation-scroll" ref={scroller}>
        <ConversationPane
          route={route}
          model={model}
          onEdit={canEdit ? onEdit : undefined}
          onLastModel={setLastModel}
        />
      </div>
      <Composer
        model={model}
        edited={edited}
        lastModel={lastModel}
        onEdited={() => setEdited(undefined)}
        onSent={() => scroller.current?.scrollTo({ top: scroller.current.scrollHeight })}
      />
    </div>
  );
}
