// The control room: what a live runtime lets others on this machine see and answer (CLI-8).

export {
  connectControl,
  controlFolder,
  hasControlSockets,
  listLiveRuntimes,
  serveControl,
} from "./control.ts";
export type { ControlClient } from "./connect.ts";
export type { LiveRuntime } from "./list-live.ts";
export type { ControlEvent, ListedGrant, ListedQuestion } from "./protocol.ts";
export { describeAnswer, keepQuestions, readStoredRequest } from "./kept-questions.ts";
export {
  answeredBy,
  createQuestionDesk,
  type Attendant,
  type OpenQuestion,
  type QuestionDesk,
} from "./question-desk.ts";
export { watchSession, type AbortListener } from "./subject.ts";
