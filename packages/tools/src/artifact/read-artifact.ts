// internal.read_artifact (ART-3): a range of an artifact of this session, or the lines of it that match.
// Bytes are stored raw, so both ways redact before they cut or compare (REDACT-1).

import { homedir } from "node:os";
import {
  type AnyTool,
  type InferOutput,
  type Resource,
  type Targets,
  type TargetsContext,
  type ToolContext,
  defineTool,
  toolResult,
} from "@soong/core";
import { invalidArguments } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { pathsInReach, restrictedArguments, restrictedBelow } from "../command/index.ts";
import { fields, flag, integer, text } from "../input/fields.ts";
import { isDirectory, judgedPath, type JudgedPath } from "../path/index.ts";
import { compileQuery } from "../search/search-request.ts";
import { readPage } from "./artifact-text.ts";
import { searchArtifact, type ArtifactMatch } from "./search-artifact.ts";

const DEFAULT_LENGTH = 32 * 1024;
const MAX_LENGTH = 1024 * 1024;
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
/** What notes and the shape of the result may take of the inline bound. */
const ROOM_FOR_NOTES = 1024;

const INPUT = fields(
  {
    artifact_id: text("As the earlier result gave it.", { minLength: 1 }),
    offset: integer("First byte to read; default 0. With query: where to begin searching.", {
      minimum: 0,
    }),
    length: integer(
      `Bytes to read, ${DEFAULT_LENGTH} by default; less comes back if a result may not hold as much.`,
      { minimum: 1, maximum: MAX_LENGTH },
    ),
    query: text("A regular expression, line by line.", { minLength: 1 }),
    literal: flag("Take the query as plain text."),
    limit: integer(`How many matching lines at the most; default ${DEFAULT_LIMIT}.`, {
      minimum: 1,
      maximum: MAX_LIMIT,
    }),
    context_lines: integer("Lines to show before and after each match.", {
      minimum: 0,
      maximum: 20,
    }),
  },
  "artifact_id",
);

type ReadArtifactInput = InferOutput<typeof INPUT>;

export function readArtifactTool(): AnyTool {
  return defineTool({
    name: "internal.read_artifact",
    title: "Read an artifact",
    description:
      "Read what was cut from an earlier result: a range of its artifact (offset and length in bytes; " +
      "next_offset says where to continue), or, with query, the lines of it that match a regular expression.",
    input_schema: INPUT,
    permission: "readonly",
    tags: ["artifact"],
    concurrency_safe: true,
    destructive: false,
    open_world: false,
    search_hint: "read page search truncated output artifact",
    validate(input) {
      const { query, length, literal, limit, context_lines } = input;
      if (query === undefined) {
        return literal === undefined && limit === undefined && context_lines === undefined
          ? undefined
          : "literal, limit and context_lines belong to a query; give one, or leave them out.";
      }
      return length === undefined
        ? undefined
        : "length belongs to a range; leave it out with query.";
    },
    targets: (input, context) => targetsOfArtifact(input.artifact_id, context),
    handler: (input, context) => readArtifact(input, context),
  });
}

async function readArtifact(input: ReadArtifactInput, context: ToolContext): Promise<unknown> {
  const { artifact_id, offset = 0, length = DEFAULT_LENGTH, query } = input;
  const artifact = await context.artifacts.stat(artifact_id);
  if (artifact === undefined) {
    throw invalidArguments(
      "artifact_not_found",
      `This session has no artifact "${artifact_id}". Use an id from an earlier result of this session.`,
    );
  }
  if (offset > 0 && offset >= artifact.size) {
    throw invalidArguments(
      "offset_past_end",
      `Artifact ${artifact_id} has ${artifact.size} bytes; there is nothing at offset ${offset}.`,
    );
  }
  const room = Math.max(256, context.inlineLimitBytes - ROOM_FOR_NOTES);
  const about = {
    artifact_id,
    media_type: artifact.media_type,
    size: artifact.size,
    ...omitUndefined({ name: artifact.name }),
  };
  if (query !== undefined) {
    const { literal = false, limit = DEFAULT_LIMIT, context_lines: contextLines = 0 } = input;
    const regex = compileQuery(query, literal);
    const search = { regex, limit, contextLines, offset, room };
    const found = await searchArtifact(context, artifact, search);
    const { matches, next_offset } = found;
    const shown = matches.length === 0 ? "No line matches." : matches.map(matchText).join("\n");
    const note =
      next_offset === undefined
        ? undefined
        : `There may be more matches: search on from offset ${next_offset}.`;
    return toolResult({
      content: textBlocks(shown, note),
      data: { ...about, ...found },
      summary: `${matches.length} matching lines in ${artifact_id}`,
    });
  }
  const page = await readPage(context, artifact, { offset, length: Math.min(length, room) });
  if (page === "binary") {
    const text = `Artifact ${artifact_id} is not text (${artifact.media_type}, ${artifact.size} bytes).`;
    return toolResult({ content: textBlocks(text), data: { ...about, binary: true } });
  }
  const { text, end } = page;
  if (text === "") {
    return toolResult({ content: textBlocks("The artifact is empty."), data: about });
  }
  const more = end < artifact.size;
  const range = `Bytes ${page.offset} to ${end} of ${artifact.size}`;
  // Space alone would pass for an empty result.
  const last = text.trim() === "" ? `${range}: white space, the end.` : undefined;
  const note = more ? `${range}; continue with offset ${end}.` : last;
  return toolResult({
    content: textBlocks(text, note),
    data: {
      ...about,
      offset: page.offset,
      end,
      truncated: more,
      ...(more ? { next_offset: end } : {}),
    },
    summary: `${range} of ${artifact_id}`,
  });
}

function textBlocks(text: string, note?: string): { type: "text"; text: string }[] {
  return (note === undefined ? [text] : [text, note]).map((part) => ({ type: "text", text: part }));
}

function matchText({ line, before, text, after }: ArtifactMatch): string {
  return [
    ...before.map((context, i) => `${line - before.length + i}- ${context}`),
    `${line}: ${text}`,
    ...after.map((context, i) => `${line + 1 + i}- ${context}`),
  ].join("\n");
}

/**
 * What reading an artifact shows (PERM-15): the paths that the call which wrote it named or could reach, judged like a
 * read of them. The bytes are what that call saw, so what it was allowed to do then is no answer to a rule of now.
 */
async function targetsOfArtifact(artifact_id: string, context: TargetsContext): Promise<Targets> {
  const sources = await context.sourcesOfArtifact(artifact_id);
  const resources: Resource[] = [];
  for (const source of sources) {
    if (source.kind === "path") resources.push(...(await readAgain(source, context)));
    if (source.kind === "command") resources.push(...printedBy(source, context));
  }
  return { resources };
}

async function readAgain(source: JudgedPath, context: TargetsContext): Promise<Resource[]> {
  const names = [source.path, ...(source.also ?? [])];
  const paths = await Promise.all(names.map((name) => judgedPath("read", name, context)));
  return paths.flatMap((path) => {
    const below = isDirectory(path.path) ? restrictedBelow(() => [path.path], context) : [];
    const isRestricted = [path.path, ...(path.also ?? [])].some(
      (name) => context.restrictedBy(name, "read", path.ignores_case) !== undefined,
    );
    if (!isRestricted && below.length === 0) return [];
    return [{ ...path, ...(below.length === 0 ? {} : { may_reach: below }) }];
  });
}

function printedBy(
  { argv, cwd, executable }: Extract<Resource, { kind: "command" }>,
  context: TargetsContext,
): Resource[] {
  const given = { argv: [...argv, cwd], cwd, home: homedir() };
  const { named, guessed } = restrictedArguments(given, context);
  const reached = pathsInReach({ argv, cwd, executable, read_only: false }, context);
  const may_reach = [...new Set([...reached, ...guessed])];
  if (may_reach.length === 0) return named;
  return [...named, { kind: "path", access: "list", path: cwd, may_reach }];
}
