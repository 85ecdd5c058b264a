// Markdown as elements: made one by one from tokens, never from markup. Links say where they lead, and nothing is loaded
// from anywhere.

import { visibleLine } from "@soong/core";
import type { Token, Tokens } from "marked";
import type { ComponentChildren, JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { CopyButton } from "../parts/button.tsx";
import { keepDrawn } from "../parts/keep-drawn.tsx";
import { decodeEntities, lexMarkdown, lexOpenMarkdown, NOTHING_OPEN, readLink } from "./lex.ts";

export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => lexMarkdown(text), [text]);
  return <div class="markdown">{renderBlocks(tokens)}</div>;
}

/** Of an answer that is being written, with a mark at its end. */
export function OpenMarkdown({ text }: { text: string }) {
  const before = useRef(NOTHING_OPEN);
  const lexed = useMemo(() => lexOpenMarkdown(text, before.current), [text]);
  before.current = lexed;
  return (
    <div class="markdown written">
      {lexed.done.map((token, index) => (
        <Block key={index} token={token} />
      ))}
      {renderBlocks(lexed.open)}
    </div>
  );
}

/** Whole ones are not drawn again. */
const Block = keepDrawn(({ token }: { token: Token }) => renderBlock(token, 0));

const DEEPEST = 16;

function renderBlocks(tokens: readonly Token[], depth = 0): ComponentChildren {
  return tokens.map((token) => renderBlock(token, depth));
}

function renderBlock(token: Token, depth: number): JSX.Element | null {
  if (depth > DEEPEST) return <p>{token.raw}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      const { depth: level } = token as Tokens.Heading;
      // One level, below those of the page: models skip some.
      return <h3 class={`md-h${level}`}>{renderInline(childrenOf(token), depth)}</h3>;
    }
    case "paragraph":
      return <p>{renderInline(childrenOf(token), depth)}</p>;
    case "text":
      return childrenOf(token).length === 0 ? (
        <>{decodeEntities(token.raw)}</>
      ) : (
        <>{renderInline(childrenOf(token), depth)}</>
      );
    case "code": {
      const { text, lang = "" } = token as Tokens.Code;
      return <CodeBlock text={text} language={lang.split(/\s/, 1)[0] ?? ""} />;
    }
    case "blockquote":
      return <blockquote>{renderBlocks(childrenOf(token), depth + 1)}</blockquote>;
    case "list":
      return renderList(token as Tokens.List, depth);
    case "table":
      return renderTable(token as Tokens.Table, depth);
    case "hr":
      return <hr />;
    default:
      // HTML above all.
      return <p class="as-written">{token.raw}</p>;
  }
}

function renderList({ ordered, start, items }: Tokens.List, depth: number): JSX.Element {
  const rows = items.map((item, index) => (
    <li key={index}>
      {item.task && (
        <span class="task-mark">
          <span aria-hidden="true">{item.checked ? "☑" : "☐"} </span>
          <span class="unseen">{item.checked ? "done: " : "to do: "}</span>
        </span>
      )}
      {renderBlocks(
        item.tokens.filter(({ type }) => type !== "checkbox"),
        depth + 1,
      )}
    </li>
  ));
  return ordered ? <ol start={start === "" ? 1 : start}>{rows}</ol> : <ul>{rows}</ul>;
}

function renderTable({ header, rows }: Tokens.Table, depth: number): JSX.Element {
  const style = ({ align }: Tokens.TableCell) => (align === null ? undefined : `to-${align}`);
  return (
    <div class="md-table" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index} scope="col" class={style(cell)}>
                {renderInline(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} class={style(cell)}>
                  {renderInline(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function renderInline(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token) => renderSpan(token, depth + 1));
}

function renderSpan(token: Token, depth: number): ComponentChildren {
  if (depth > 2 * DEEPEST) return token.raw;
  const inner = () => renderInline(childrenOf(token), depth);
  switch (token.type) {
    case "strong":
      return <strong>{inner()}</strong>;
    case "em":
      return <em>{inner()}</em>;
    case "del":
      return <del>{inner()}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "escape":
      return (token as Tokens.Escape).text;
    case "link":
      return <Link href={(token as Tokens.Link).href} text={token.raw} inner={inner()} />;
    case "image": {
      const { href, text } = token as Tokens.Image;
      // From elsewhere: named, and not loaded.
      return <Link href={href} text={token.raw} inner={`[image: ${decodeEntities(text)}]`} />;
    }
    case "text":
      return childrenOf(token).length > 0 ? inner() : decodeEntities(token.raw);
    default:
      return token.raw;
  }
}

function Link(props: { href: string; text: string; inner: ComponentChildren }) {
  const { href, text, inner } = props;
  const address = readLink(href);
  // As it was written: an address that leads nowhere good is only text.
  if (address === undefined) return <>{text}</>;
  const shown = visibleLine(address);
  const isSaid = text.includes(href) && !text.startsWith("[") && !text.startsWith("!");
  return (
    <>
      <a href={address} target="_blank" rel="noopener noreferrer" title={shown}>
        {inner}
      </a>
      {!isSaid && <span class="link-target"> ({shown})</span>}
    </>
  );
}

const DIFF: Readonly<Record<string, string>> = {
  "+": "diff-added",
  "-": "diff-removed",
  "@": "diff-hunk",
};
const MOST_DIFF_LINES = 2000;

function CodeBlock({ text, language }: { text: string; language: string }) {
  const lines = language === "diff" ? text.split("\n") : [];
  return (
    <figure class="code-block">
      <figcaption>
        <span>{language === "" ? "text" : visibleLine(language.slice(0, 40))}</span>
        <CopyButton text={text} what="the code" />
      </figcaption>
      <pre tabIndex={0}>
        <code>
          {lines.length === 0 || lines.length > MOST_DIFF_LINES
            ? text
            : lines.map((line, index) => (
                <span key={index} class={DIFF[line.charAt(0)]}>
                  {`${line}\n`}
                </span>
              ))}
        </code>
      </pre>
    </figure>
  );
}

function childrenOf(token: Token): readonly Token[] {
  return ("tokens" in token && token.tokens) || [];
}
