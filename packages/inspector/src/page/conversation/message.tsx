// One message of a conversation: a prompt, an answer with its calls, or what was added for the model to read.

import { visibleLine } from "@soong/core";
import type { ConversationItem } from "../../wire/session-records.ts";
import { SignButton } from "../parts/button.tsx";
import { keepDrawn } from "../parts/keep-drawn.tsx";
import { CutText, countText } from "../parts/text.tsx";
import type { SessionRoute } from "../route/hash-route.ts";
import { callKey, type SessionModel } from "../state/session-model.ts";
import { CallRow } from "./call-row.tsx";
import { FoldedText } from "./folded-text.tsx";
import { OtherBlock } from "./other-block.tsx";

export interface MessageProps {
  item: ConversationItem;
  session_id: string;
  chosen: SessionRoute;
  lanes: SessionModel["lanes"];
  /** Counts up with the lanes of this message: they are changed in place. */
  version: number;
  /** Of its calls, by callKey. */
  results: ReadonlyMap<string, ConversationItem>;
  isLive: boolean;
  /** For prompts that can be edited. */
  onEdit?: ((item: ConversationItem) => void) | undefined;
}

export const Message = keepDrawn(MessageOf);

function MessageOf(props: MessageProps) {
  const { item, session_id, onEdit } = props;
  const { role, kind } = item;
  if (kind === "compaction") return <Compaction {...props} />;
  if (role === "context") return <Added {...props} />;
  const isOwn = role === "user";
  const calls = item.calls ?? [];
  return (
    <article
      class={`message ${role} ${isChosen(props) || item.node_id === props.chosen.node_id ? "chosen" : ""}`}
    >
      <h2>
        {wordFor(item)}
        {item.model !== undefined && <span class="quiet"> {visibleLine(item.model)}</span>}
        {item.is_error === true && <span class="problem"> ✕ error</span>}
        {isOwn && onEdit !== undefined && (
          <SignButton
            sign="✎"
            label="Edit this prompt and run again from here"
            title="Edit and run again from here"
            onClick={() => onEdit(item)}
          />
        )}
      </h2>
      {item.reasoning !== undefined && (
        <details class="reasoning">
          <summary>Reasoning</summary>
          <div class="block quiet">
            <CutText text={item.reasoning} />
          </div>
        </details>
      )}
      <Content {...props} isMarkdown={role === "assistant"} />
      {item.is_unfinished === true && <p class="quiet">■ It was cut off here.</p>}
      {calls.length > 0 && (
        <ul class="call-rows" aria-label="Calls">
          {calls.map(({ tool_call_id, tool_name, summary }, index) => {
            const key = callKey(item.run_id, tool_call_id ?? "");
            return (
              <li key={index}>
                <CallRow
                  session_id={session_id}
                  run_id={item.run_id}
                  tool_call_id={tool_call_id}
                  tool_name={tool_name}
                  summary={summary}
                  lane={props.lanes.get(key)}
                  result={props.results.get(key)}
                  isLive={props.isLive}
                  isChosen={tool_call_id !== undefined && isChosen(props, tool_call_id)}
                />
              </li>
            );
          })}
        </ul>
      )}
    </article>
  );
}

function isChosen({ item, chosen }: MessageProps, id = item.tool_call_id): boolean {
  return id !== undefined && id === chosen.tool_call_id && item.run_id === chosen.run_id;
}

/** What came before it is known to the model by this summary only. */
function Compaction(props: MessageProps) {
  return (
    <article class="message compaction">
      <h2>Conversation summed up here</h2>
      <p class="quiet">The model reads this summary instead of what is above.</p>
      <details>
        <summary>Summary</summary>
        <Content {...props} isMarkdown />
      </details>
    </article>
  );
}

const ADDED: Readonly<Record<string, string>> = {
  skill_context: "Skill",
  memory_context: "Memory",
  instruction_context: "Instructions",
  plan_instruction: "Plan",
  task_instruction: "Task",
  hook_context: "Added by a hook",
};

/** Skills, memory and instructions: folded, for they are long and not what was said. */
function Added(props: MessageProps) {
  const { kind, content, cut = 0 } = props.item;
  const chars = content.reduce(
    (sum, block) => sum + (block.type === "text" ? block.text.length : 0),
    cut,
  );
  return (
    <article class="message context">
      <details>
        <summary>
          {ADDED[kind] ?? visibleLine(kind.replaceAll("_", " "))}{" "}
          <span class="quiet">for the model to read, {countText(chars)} characters</span>
        </summary>
        <Content {...props} />
      </details>
    </article>
  );
}

function Content({
  item,
  session_id,
  isMarkdown = false,
}: MessageProps & { isMarkdown?: boolean }) {
  const { content, cut = 0 } = item;
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const others = content.filter(({ type }) => type !== "text");
  return (
    <>
      {(texts.length > 0 || cut > 0) && (
        <FoldedText
          text={texts.join("\n\n")}
          cut={cut}
          node={{ session_id, node_id: item.node_id }}
          isMarkdown={isMarkdown}
        />
      )}
      {others.map((block, index) => (
        <OtherBlock key={index} block={block} session_id={session_id} />
      ))}
    </>
  );
}

function wordFor({ role, kind }: ConversationItem): string {
  if (kind === "tool_result") return "Result";
  if (kind === "message") return role === "user" ? "You" : "Model";
  return visibleLine(kind.replaceAll("_", " "));
}
