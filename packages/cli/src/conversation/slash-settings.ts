// Commands about who answers and what is allowed: the model, the mode, tools, servers, agents, rules and grants.

import { describeScopes, MODES } from "@soong/core/internal";
import { visibleLine, wrap } from "../output/index.ts";
import { printText } from "./print-text.ts";
import type { SlashCommands } from "./slash-command.ts";

export const SETTINGS_COMMANDS: SlashCommands = {
  model: {
    usage: "/model [MODEL]",
    says: "the models there are; use one from now on",
    async run({ terminal, talk, own }, reference) {
      if (reference !== "") {
        await talk.useModel(reference);
        return printText(terminal, `From the next prompt on ${visibleLine(talk.model)} answers.`);
      }
      const about = `${visibleLine(talk.model)} answers. /model takes a profile of the config, provider:model or script:FILE.`;
      const others = (await own.models()).map((name) => `  /model ${visibleLine(name)}`);
      printText(terminal, about);
      if (others.length > 0) terminal.print(others.join("\n"));
    },
  },
  mode: {
    usage: "/mode [MODE]",
    says: `${MODES.join(", ")}, from now on`,
    run({ terminal, talk }, wanted) {
      const next = MODES.find((one) => one === wanted);
      if (next !== undefined) {
        talk.useMode(next);
        return printText(terminal, `From the next prompt on the mode is ${next}.`);
      }
      const wrong = wanted === "" ? "" : `There is no mode ${visibleLine(wanted)}. `;
      printText(terminal, `${wrong}The mode is ${talk.mode}; there are ${MODES.join(", ")}.`);
    },
  },
  tools: {
    usage: "/tools [WORDS]",
    says: "the tools of the next turn, or a search among them",
    async run({ terminal, talk, own }, query) {
      terminal.print(await own.tools(query, talk.mode));
    },
  },
  mcp: {
    usage: "/mcp",
    says: "MCP servers, and why a tool is not offered",
    async run({ terminal, own }) {
      terminal.print(await own.servers());
    },
  },
  agents: {
    usage: "/agents",
    says: "the agents that can be started",
    async run({ terminal, own }) {
      terminal.print(await own.agents());
    },
  },
  permissions: {
    usage: "/permissions [TOOL JSON]",
    says: "the rules and where they are; what a call gets",
    async run({ terminal, talk, own }, call) {
      terminal.print(await own.permissions(call, talk.mode));
    },
  },
  grants: {
    usage: "/grants [revoke ID]",
    says: "what you allowed for this session; take it back",
    run({ terminal, talk }, rest) {
      const [, id] = /^revoke\s+(\S+)$/.exec(rest) ?? [];
      if (id !== undefined) {
        const revoked = talk.revokeGrant(id);
        return printText(
          terminal,
          revoked === undefined
            ? `There is no grant ${visibleLine(id)}; /grants lists them.`
            : `Revoked: ${visibleLine(revoked.tool_name)} requires approval again.`,
        );
      }
      if (rest !== "") {
        return printText(
          terminal,
          "/grants lists what you allowed for this session, /grants revoke ID takes it back.",
        );
      }
      const lines = talk.grants().map(({ grant_id, tool_name, scopes, granted_by }) => {
        const heading = `${terminal.colours.bold(visibleLine(grant_id))} by ${visibleLine(granted_by)}`;
        const covers = visibleLine(describeScopes(tool_name, scopes));
        return [heading, ...wrap(covers, terminal.columns - 1, "    ")].join("\n");
      });
      const nothing = "Nothing is allowed for this session beyond the rules.";
      terminal.print(lines.length === 0 ? nothing : lines.join("\n"));
    },
  },
};
