// A reference page of what a package exports, made from the declarations the compiler wrote into its dist/.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync, type Directive, type Statement } from "oxc-parser";
import { npmName } from "./layout.ts";

/** One exported name. A function with overloads has several texts. */
interface Export {
  readonly name: string;
  readonly isType: boolean;
  readonly comment: string;
  readonly texts: readonly string[];
}

export function apiPage(folder: string): string {
  const { exports } = JSON.parse(
    readFileSync(join("packages", folder, "package.json"), "utf8"),
  ) as { exports: Record<string, { types: string } | string> };
  const entries = Object.entries(exports).flatMap(([entry, target]) =>
    // What our packages share is no reference for anyone.
    typeof target === "string" || entry === "./internal"
      ? []
      : [{ module: join(npmName(folder), entry), file: join("packages", folder, target.types) }],
  );
  return [
    `# API of ${npmName(folder)}`,
    "",
    "<!-- Made from the types by `node scripts/run.mjs scripts/write-api-pages.ts`. -->",
    "",
    ...entries.flatMap(({ module, file }) => renderEntry(module, exportsOf(file))),
  ].join("\n");
}

function renderEntry(module: string, found: readonly Export[]): string[] {
  const sorted = found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return [
    ...renderPart(
      `Values of \`${module}\``,
      sorted.filter(({ isType }) => !isType),
    ),
    ...renderPart(
      `Types of \`${module}\``,
      sorted.filter(({ isType }) => isType),
    ),
  ];
}

function renderPart(title: string, found: readonly Export[]): string[] {
  if (found.length === 0) return [];
  return [`## ${title}`, "", ...found.flatMap(renderExport)];
}

function renderExport({ name, comment, texts }: Export): string[] {
  const description = comment === "" ? [] : [comment, ""];
  return [`### ${name}`, "", ...description, "```text", ...texts, "```", ""];
}

/** What a file of declarations exports, also of other files and packages. */
function exportsOf(file: string): Export[] {
  const source = readFileSync(file, "utf8");
  const { program, comments } = parseSync(file, source);
  return merge(program.body.flatMap(exportsOfStatement));

  function exportsOfStatement(statement: Statement | Directive): Export[] {
    if (statement.type === "ExportAllDeclaration") {
      const all = exportsFrom(statement.source.value);
      const { exported } = statement;
      if (exported !== null) {
        return all.map((one) => ({ ...one, name: `${nameIn(exported)}.${one.name}` }));
      }
      return statement.exportKind === "type" ? all.filter(({ isType }) => isType) : all;
    }
    if (statement.type !== "ExportNamedDeclaration") return [];
    const { declaration, specifiers, source: from } = statement;
    if (declaration !== null) return declared(declaration, statement.start);
    return specifiers.flatMap(({ local, exported }) => {
      const wanted = nameIn(local);
      const all = from === null ? locals() : exportsFrom(from.value);
      return all
        .filter(({ name }) => name === wanted)
        .map((one) => ({ ...one, name: nameIn(exported) }));
    });
  }

  function exportsFrom(specifier: string): Export[] {
    const [, otherPackage] = /^@soong\/([a-z]+)$/.exec(specifier) ?? [];
    if (otherPackage !== undefined)
      return exportsOf(join("packages", otherPackage, "dist/index.d.ts"));
    return exportsOf(join(dirname(file), specifier.replace(/\.[jt]s$/, ".d.ts")));
  }

  /** What is declared first and exported by name further below. */
  function locals(): Export[] {
    return program.body.flatMap((statement) => declared(statement, statement.start));
  }

  function declared(node: Statement | Directive, start: number): Export[] {
    const text = source
      .slice(start, node.end)
      .replace(/^export (declare )?/, "")
      .replace(/^declare /, "");
    return namesDeclared(node).map((name) => ({
      name,
      isType: node.type === "TSInterfaceDeclaration" || node.type === "TSTypeAliasDeclaration",
      comment: commentBefore(start),
      texts: [text],
    }));
  }

  function commentBefore(start: number): string {
    const comment = comments.findLast(
      ({ type, end, value }) =>
        type === "Block" &&
        value.startsWith("*") &&
        end <= start &&
        source.slice(end, start).trim() === "",
    );
    const lines = (comment?.value.slice(1) ?? "").split("\n");
    return lines
      .map((line) => line.replace(/^\s*\* ?/, "").trim())
      .join("\n")
      .trim();
  }
}

function namesDeclared(node: Statement | Directive): string[] {
  if (node.type === "VariableDeclaration") {
    return node.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  }
  const isNamed =
    node.type === "TSInterfaceDeclaration" ||
    node.type === "TSTypeAliasDeclaration" ||
    node.type === "ClassDeclaration" ||
    node.type === "FunctionDeclaration" ||
    node.type === "TSDeclareFunction";
  return isNamed && node.id !== null ? [node.id.name] : [];
}

function nameIn(node: { name: string } | { value: string }): string {
  return "name" in node ? node.name : node.value;
}

/** Overloads are one export. */
function merge(found: readonly Export[]): Export[] {
  const byName = new Map<string, Export>();
  for (const one of found) {
    const known = byName.get(one.name);
    if (known === undefined) {
      byName.set(one.name, one);
    } else {
      const texts = [...new Set([...known.texts, ...one.texts])];
      byName.set(one.name, { ...known, isType: known.isType && one.isType, texts });
    }
  }
  return [...byName.values()];
}
