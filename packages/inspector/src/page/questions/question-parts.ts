// What every kind of question is given by its card.

import type { AnswerGiven } from "../../wire/index.ts";

export interface QuestionParts {
  is_sending: boolean;
  problem: string | undefined;
  /** Gives the answer if it was meant: see answer-guard. */
  onClick: (answer: AnswerGiven) => void;
}
