import type { MarkedToken, Token, Tokens } from 'marked';
import { showHidden } from '../state/hidden-characters.ts';
import { CodeBlock } from './code.tsx';
import { CodeText } from './code-text.tsx';
import { useStepwise } from './stepwise.ts';

/** A growing block this long is shown as it is written, and as Markdown when it is complete. */
const MAX_GROWING_CHARS = 8_000;
/** A paragraph this long is nothing that anybody wrote for reading, and takes a browser too long. */
const MAX_CHARS = 40_000;
/** Items of a list, or rows of a table, that are drawn with one frame. */
const STEP_ITEMS = 80;

/**
 * One block of Markdown as elements. Nothing of it ever passes through an HTML parser: HTML that a model writes is
 * text, an image is a link (loading it could carry away what the model has read), and a link leads to the web or to mail.
 */
export function MarkdownBlock({ token, growing = false }: { token: Token; growing?: boolean }) {
  if (isTooLong(token, growing)) {
    return (
      <div class="growing">
        <CodeText text={token.raw} language={undefined} growing />
      </div>
    );
  }
  if (!isMarked(token)) return <>{token.raw}</>;
  switch (token.type) {
    case 'code':
      return <CodeBlock text={token.text} language={token.lang ?? ''} growing={growing} />;
    case 'heading':
      return <Heading token={token} />;
    case 'blockquote':
      return (
        <blockquote>
          <Blocks tokens={token.tokens} />
        </blockquote>
      );
    case 'list':
      return <List token={token} />;
    case 'table':
      return <Table token={token} />;
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    case 'paragraph':
      return (
        <p dir="auto">
          <Inlines tokens={token.tokens} />
        </p>
      );
    case 'html':
      return <p>{showHidden(token.text.trim())}</p>;
    default:
      return <Inline token={token} />;
  }
}

function isTooLong({ type, raw }: Token, growing: boolean): boolean {
  if (type === 'code') return false;
  if (growing) return raw.length > MAX_GROWING_CHARS;
  return type !== 'list' && type !== 'table' && raw.length > MAX_CHARS;
}

/** Marked's own tokens; others come only from extensions, of which there are none here. */
const isMarked = (token: Token): token is MarkedToken => token.type in KNOWN;
const KNOWN: Record<MarkedToken['type'], true> = {
  ...{ blockquote: true, br: true, checkbox: true, code: true, codespan: true, def: true, del: true, em: true },
  ...{ escape: true, heading: true, hr: true, html: true, image: true, link: true, list: true, list_item: true },
  ...{ paragraph: true, space: true, strong: true, table: true, text: true },
};

const Blocks = ({ tokens }: { tokens: readonly Token[] }) => (
  <>
    {tokens.map((token, index) => (
      <MarkdownBlock key={index} token={token} />
    ))}
  </>
);

const Inlines = ({ tokens }: { tokens: readonly Token[] }) => (
  <>
    {tokens.map((token, index) => (
      <Inline key={index} token={token} />
    ))}
  </>
);

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const;

function Heading({ token }: { token: Tokens.Heading }) {
  const Tag = HEADINGS[token.depth - 1] ?? 'h6';
  return (
    <Tag dir="auto">
      <Inlines tokens={token.tokens} />
    </Tag>
  );
}

function List({ token }: { token: Tokens.List }) {
  const count = useStepwise(token.items.length, STEP_ITEMS);
  const items = token.items.slice(0, count).map((item, index) => (
    <li key={index} dir="auto">
      <Blocks tokens={item.tokens} />
    </li>
  ));
  if (!token.ordered) return <ul>{items}</ul>;
  return <ol start={typeof token.start === 'number' ? token.start : 1}>{items}</ol>;
}

function Table({ token: { header, rows } }: { token: Tokens.Table }) {
  const count = useStepwise(rows.length, STEP_ITEMS);
  return (
    <table>
      <thead>
        <tr>
          {header.map((cell, index) => (
            <th key={index} align={cell.align ?? undefined}>
              <Inlines tokens={cell.tokens} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, count).map((row, at) => (
          <tr key={at}>
            {row.map((cell, index) => (
              <td key={index} align={cell.align ?? undefined}>
                <Inlines tokens={cell.tokens} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Inline({ token }: { token: Token }) {
  if (!isMarked(token)) return <>{token.raw}</>;
  switch (token.type) {
    case 'strong':
      return (
        <strong>
          <Inlines tokens={token.tokens} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <Inlines tokens={token.tokens} />
        </em>
      );
    case 'del':
      return (
        <del>
          <Inlines tokens={token.tokens} />
        </del>
      );
    case 'codespan':
      return <code>{showHidden(token.text)}</code>;
    case 'br':
      return <br />;
    case 'checkbox':
      return <input type="checkbox" checked={token.checked} disabled aria-label={token.checked ? 'done' : 'to do'} />;
    case 'link':
      return <Link token={token} />;
    case 'image':
      return <ImageLink token={token} />;
    case 'text':
      return token.tokens ? <Inlines tokens={token.tokens} /> : toText(token.text);
    case 'html':
      return /^<br\s*\/?>$/i.test(token.text.trim()) ? <br /> : showHidden(token.text);
    case 'escape':
      return <>{token.text}</>;
    default:
      return <MarkdownBlock token={token} />;
  }
}

function Link({ token }: { token: Tokens.Link }) {
  const href = token.autolink ? token.href : toText(token.href);
  return isOpenable(href) ? (
    <a href={href} title={showHidden(href)} target="_blank" rel="noopener noreferrer">
      <Inlines tokens={token.tokens} />
    </a>
  ) : (
    <Inlines tokens={token.tokens} />
  );
}

function ImageLink({ token }: { token: Tokens.Image }) {
  const href = toText(token.href);
  const words = `image: ${token.text === '' ? href : toText(token.text)}`;
  if (!isOpenable(href)) return <>{words}</>;
  return (
    <a class="image-link" href={href} title={showHidden(href)} target="_blank" rel="noopener noreferrer">
      {words}
    </a>
  );
}

const isOpenable = (href: string): boolean => /^(https?|mailto):/i.test(href);

/** What is written with character references (`&lt;`) is meant as the character. */
const toText = (written: string): string =>
  showHidden(written.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi, toCharacter));

/** The browser knows all the names; what it is given is one reference and nothing else. */
const toCharacter = (reference: string): string =>
  new DOMParser().parseFromString(reference, 'text/html').documentElement.textContent ?? reference;
