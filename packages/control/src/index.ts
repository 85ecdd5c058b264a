// What a live runtime lets other processes of the same user see and answer (CLI-8).

export {
  connectControl,
  controlFolder,
  hasControlSockets,
  listLiveRuntimes,
  serveControl,
} from "./control.ts";
export type { ConnectOptions, ControlClient, LiveRuntime, LiveRuntimes } from "./connect.ts";
export type { ControlServer } from "./listen.ts";
export { CONTROL_PROTOCOL, ControlError } from "./protocol.ts";
export type {
  ControlEvent,
  ControlHello,
  ControlMethod,
  ControlMethods,
  ListedGrant,
  ListedQuestion,
  LiveText,
  QuestionAnswer,
  SettledQuestion,
} from "./protocol.ts";
export { readElicitationAnswer, readRelayedAnswer } from "./relayed-answer.ts";
export { describeAnswer, storeQuestions } from "./stored-questions.ts";
export { readStoredRequest } from "./stored-request.ts";
export type { StoredQuestions, StoreQuestionsOptions } from "./stored-questions.ts";
export { answeredBy, createApprovalBroker } from "./approval-broker.ts";
export type {
  ApprovalBroker,
  OpenElicitation,
  OpenQuestion,
  Responder,
} from "./approval-broker.ts";
export { obeyCommand, watchSession } from "./watch-session.ts";
export type {
  AbortListener,
  ControlSubject,
  WatchedSession,
  WatchOptions,
} from "./watch-session.ts";
