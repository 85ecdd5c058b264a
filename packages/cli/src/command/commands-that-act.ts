// The commands that let a tool or a model act, or say what would happen if they did.

import { Option, type Command } from "commander";
import type { CallOptions } from "./call.ts";
import type { CommandContext } from "./context.ts";
import type { ExplainOptions } from "./explain.ts";
import {
  agentAndMode,
  examples,
  exits,
  JSON_FLAG,
  modeOption,
  rulesAndPlace,
  type Ended,
} from "./options.ts";
import type { RunCommandOptions } from "./run.ts";
import type { ToolsCheckOptions } from "./tools-check.ts";
import type { ToolsOptions } from "./tools.ts";

export function addRuns(program: Command, context: CommandContext, ended: Ended): void {
  const run = program
    .command("run")
    .description("let a model work on a prompt, to its end")
    .argument("[prompt]", "what to do; left out or -: read from stdin")
    .option("--model <model>", "provider:model, script:FILE, or a profile of the config")
    .option("--json", "print the facts, one a line, and nothing else");
  rulesAndPlace(agentAndMode(run)).action(
    async (prompt: string | undefined, options: RunCommandOptions) => {
      const { runCommand } = await import("./run.ts");
      ended(await runCommand(context, prompt, options));
    },
  );
  examples(run, [
    `soong run "What does this project do?"`,
    `soong run --model script:tour.yaml "Show me around" --allow 'code.*'`,
    `git diff | soong run - --agent reviewer --json`,
    `soong run --mode orchestrator "Plan the work and let workers do it"`,
  ]);
  exits(run, RUN_EXITS);

  const resume = program
    .command("resume")
    .description("continue a session where it left off, also a run that was cut off")
    .argument("<session>", "its id, as `soong sessions` lists it")
    .argument(
      "[prompt]",
      "what to do next; default: stdin, else the interrupted run continues, in a conversation on a terminal",
    )
    .option("--model <model>", "provider:model, script:FILE, or a profile of the config")
    .option("--json", "print the facts, one a line, and nothing else");
  rulesAndPlace(agentAndMode(resume)).action(
    async (session: string, prompt: string | undefined, options: RunCommandOptions) => {
      const { refuseUnknownSession } = await import("./kept.ts");
      await refuseUnknownSession(context, session);
      if (prompt === undefined && options.json !== true && context.stdin.isTTY) {
        const { converseCommand } = await import("./converse.ts");
        ended(await converseCommand(context, options, session));
        return;
      }
      const { runCommand } = await import("./run.ts");
      ended(await runCommand(context, prompt, options, session));
    },
  );
  examples(resume, ["soong resume session_0abc", `soong resume session_0abc "Now the tests"`]);
  exits(resume, RUN_EXITS);
}

const RUN_EXITS =
  "0 completed, 1 failed, 2 used wrongly, 3 denied, 4 too many turns, 5 prompt too long, 6 answer too long, 130 aborted";

export function addCalls(program: Command, context: CommandContext, ended: Ended): void {
  const call = program
    .command("call")
    .description("call one tool, through validation, permission, hooks and record")
    .argument("<tool>", "its name, as `soong tools` lists it")
    .argument("[json]", "its input; - reads it from stdin; left out: {}")
    .option(...JSON_FLAG)
    .option("--yes", "your answer, should this call need one");
  rulesAndPlace(call).action(
    async (tool: string, json: string | undefined, options: CallOptions) => {
      const { callCommand } = await import("./call.ts");
      ended(await callCommand(context, tool, json, options));
    },
  );
  examples(call, [
    `soong call code.read_file '{"path": "README.md"}'`,
    `soong call code.run_command '{"argv": ["git", "status"]}' --yes`,
    `echo '{"query": "main"}' | soong call code.search - --json`,
  ]);
  exits(call, "0 it succeeded, 1 the tool failed, 2 used wrongly, 3 denied, 130 interrupted");

  const explain = program
    .command("explain")
    .description("show who would decide about a call, and how; runs nothing")
    .argument("[tool]", "its name, as `soong tools` lists it; left out: the whole policy")
    .argument("[json]", "its input; - reads it from stdin; left out: {}")
    .option(...JSON_FLAG)
    .addOption(modeOption());
  rulesAndPlace(explain).action(
    async (tool: string | undefined, json: string | undefined, options: ExplainOptions) => {
      const { explainCommand } = await import("./explain.ts");
      ended(await explainCommand(context, tool, json, options));
    },
  );
  examples(explain, [
    "soong explain",
    `soong explain code.run_command '{"argv": ["rm", "-r", "build"]}'`,
    `soong explain code.write_file '{"path": "a", "content": ""}' --allow 'code.*'`,
  ]);
}

export function addTools(program: Command, context: CommandContext, ended: Ended): void {
  const tools = program
    .command("tools")
    .description("list the tools a run would have, with reasons, or search them")
    .argument("[query...]", "words to search for, as a model would")
    .option(...JSON_FLAG)
    .addOption(
      new Option("--role <role>", "whose tools").choices(["main", "sub", "fork", "worker"]),
    )
    .addOption(modeOption())
    .action(async (query: string[], options: ToolsOptions) => {
      const { toolsCommand } = await import("./tools.ts");
      ended(await toolsCommand(context, query.join(" "), options));
    });
  examples(tools, ["soong tools", "soong tools --mode plan", "soong tools find text in files"]);

  const check = tools
    .command("check")
    .description("check files that declare tools, and try one on a sample")
    .argument("<file...>", "JSON files, as in tools/ of the home")
    .option("--sample <json>", "run it once with this input; that is the yes to it")
    .option(...JSON_FLAG)
    .action(async (files: string[], options: ToolsCheckOptions) => {
      const { toolsCheckCommand } = await import("./tools-check.ts");
      ended(await toolsCheckCommand(context, files, options));
    });
  examples(check, [
    "soong tools check ~/.soong-agent/tools/*.json",
    `soong tools check weather.json --sample '{"city": "Oslo"}'`,
  ]);
}
