// The control room: what a live runtime lets others on this machine see and answer (CLI-8).

export {
  createQuestionDesk,
  type Attendant,
  type OpenQuestion,
  type QuestionDesk,
} from "./question-desk.ts";
