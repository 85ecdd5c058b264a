// What waits for a person in all live sessions, oldest first, and what was granted in them.

import { useInspector } from "../app/context.ts";
import { GrantList } from "./grant-list.tsx";
import { QuestionList } from "./question-list.tsx";

export function QuestionsView() {
  const { about } = useInspector();
  if (!about.can.answer) {
    return (
      <section class="view">
        <h1>Questions</h1>
        <p>This inspector was started without a way to the live runtimes.</p>
      </section>
    );
  }
  return (
    <section class="view questions">
      <h1>Questions</h1>
      <p class="quiet">
        With the focus on a question: <kbd>y</kbd> allows once, <kbd>s</kbd> for the session,{" "}
        <kbd>n</kbd> denies, <kbd>r</kbd> goes to the reason. Keys count when the question has been
        there long enough to be read.
      </p>
      <QuestionList empty="Nothing waits for an answer." />
      <h2>Grants</h2>
      <GrantList />
    </section>
  );
}
