// The conversation module: a user and a model at one terminal (CLI-1, CLI-7). It knows the terminal only by its
// contract, and the rest of the program by what it is given.

export { askPermission, NO, type Prompts } from "./ask-permission.ts";
export { answerElicitation } from "./answer-elicitation.ts";
export { converse } from "./converse.ts";
export { openLoop } from "./open-loop.ts";
export { openPromptHistory } from "./prompt-history.ts";
export type { SharedCommands } from "./slash-commands.ts";
export { openingText, openTalk } from "./talk.ts";
