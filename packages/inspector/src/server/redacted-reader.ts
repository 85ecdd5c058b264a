// A session as it is read for the page: known secrets are hidden in what was recorded before anything of it is cut or
// summed up, for half of one is not recognised any more (REDACT-3).

import type { ConversationNode, Redactor } from "@soong/core";
import type { SessionReader } from "@soong/store";

/** Bytes of artifacts are as they are: they are read in pages, which hide secrets across their borders. */
export function createRedactedReader(
  reader: SessionReader,
  redactor: Pick<Redactor, "value">,
): SessionReader {
  const hide = <T>(value: T): T => redactor.value(value, { scope: "known_values" });
  const hideData = <T extends { readonly data?: unknown }>(record: T): T => {
    const data = hide(record.data);
    return data === record.data ? record : { ...record, data };
  };
  const hideIn = (node: ConversationNode): ConversationNode => {
    const content = hide(node.content);
    return hideData(content === node.content ? node : { ...node, content });
  };
  return {
    session_id: reader.session_id,
    record: () => reader.record(),
    facts: async (page) => (await reader.facts(page)).map(hideData),
    agents: () => reader.agents(),
    runs: () => reader.runs(),
    calls: (of) => reader.calls(of),
    async node(node_id) {
      const node = await reader.node(node_id);
      return node && hideIn(node);
    },
    children: async (node_id) => (await reader.children(node_id)).map(hideIn),
    path: async (node_id) => (await reader.path(node_id)).map(hideIn),
    activePath: async (agent_id) => (await reader.activePath(agent_id)).map(hideIn),
    artifacts: () => reader.artifacts(),
    readArtifact: (artifact_id, range) => reader.readArtifact(artifact_id, range),
  };
}
