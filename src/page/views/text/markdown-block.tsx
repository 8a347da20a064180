import type { MarkedToken, Token, Tokens } from 'marked';
import { useMemo } from 'preact/hooks';
import { directionOf } from '../../state/text/direction.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { isFootnote, isFootnoteMark, isMath } from '../../state/text/markdown-extras.ts';
import { LONG_PARAGRAPH, toPieces } from '../../state/text/paragraph-pieces.ts';
import { DiagramPart } from '../diagram/diagram-part.tsx';
import { FormulaPart } from '../math/formula-part.tsx';
import { CodeBlock } from './code.tsx';
import { CodeText } from './code-text.tsx';
import { FileLink, FileName } from './file-name.tsx';
import { Footnote, FootnoteMark } from './footnotes.tsx';
import { MarkdownTable } from './markdown-table.tsx';
import { useStepwise } from './stepwise.ts';

/** A longer heading or piece of HTML was not written for reading and is shown as source text. */
const MAX_CHARS = 40_000;
/** List items or table rows drawn per frame. */
const STEP_ITEMS = 80;
/** Pieces of a long paragraph drawn per frame. */
const STEP_PIECES = 4;

/**
 * One block of Markdown as elements. No part of it passes through an HTML parser: HTML from a model is shown as text,
 * an image becomes a link (loading it could leak data that the model has read), and only web and mail links can be
 * opened. While the block grows, unchanged inner tokens are not drawn again.
 */
export function MarkdownBlock({ token, growing = false }: { token: Token; growing?: boolean }) {
  if (isTooLong(token)) {
    return (
      <div class="unformatted">
        <CodeText text={token.raw} language={undefined} growing />
      </div>
    );
  }
  if (!isMarked(token)) return <Extra token={token} />;
  switch (token.type) {
    case 'code':
      return isDiagram(token) && !growing ? (
        <DiagramPart source={token.text} language={token.lang ?? ''} />
      ) : (
        <CodeBlock text={token.text} language={token.lang ?? ''} growing={growing} />
      );
    case 'heading':
      return <Heading token={token} />;
    case 'blockquote':
      return (
        <blockquote dir={directionOf(token.raw)}>
          <ManyBlocks tokens={token.tokens} growing={growing} />
        </blockquote>
      );
    case 'list':
      return <List token={token} growing={growing} />;
    case 'table':
      return <MarkdownTable token={token} step={STEP_ITEMS} draw={drawInlines} />;
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    case 'paragraph':
      return (
        <p dir="auto">
          {token.raw.length > LONG_PARAGRAPH ? <Pieces tokens={token.tokens} /> : <Inlines tokens={token.tokens} />}
        </p>
      );
    case 'html':
      return <p>{showHidden(token.text.trim())}</p>;
    default:
      return <Inline token={token} />;
  }
}

/** Blocks that consist of pieces are never too long: they are drawn some pieces per frame. */
const isTooLong = ({ type, raw }: Token): boolean => raw.length > MAX_CHARS && !PIECEMEAL.includes(type);
const PIECEMEAL = ['code', 'list', 'table', 'blockquote', 'paragraph'];

const isDiagram = ({ lang }: Tokens.Code): boolean => /^mermaid\b/i.test(lang ?? '');

/** Whether this is a standard token of Marked. Others come from state/text/markdown-extras.ts. */
const isMarked = (token: Token): token is MarkedToken => token.type in KNOWN;
const KNOWN: Record<MarkedToken['type'], true> = {
  blockquote: true,
  br: true,
  checkbox: true,
  code: true,
  codespan: true,
  def: true,
  del: true,
  em: true,
  escape: true,
  heading: true,
  hr: true,
  html: true,
  image: true,
  link: true,
  list: true,
  list_item: true,
  paragraph: true,
  space: true,
  strong: true,
  table: true,
  text: true,
};

interface BlocksProps {
  tokens: readonly Token[];
  growing: boolean;
}

const Blocks = ({ tokens, growing }: BlocksProps) => (
  <>
    {tokens.map((token, index) => (
      <KeptBlock key={index} token={token} growing={growing && index === tokens.length - 1} />
    ))}
  </>
);

/** Draws many blocks, for example of a quote, some per frame. */
function ManyBlocks({ tokens, growing }: BlocksProps) {
  const count = useStepwise(tokens.length, STEP_ITEMS);
  return <Blocks tokens={tokens.slice(0, count)} growing={growing && count === tokens.length} />;
}

const KeptBlock = ({ token, growing }: { token: Token; growing: boolean }) =>
  useMemo(() => <MarkdownBlock token={token} growing={growing} />, [token.type, token.raw, growing]);

const Inlines = ({ tokens }: { tokens: readonly Token[] }) => (
  <>{tokens.map((token, index) => (isPlain(token) ? toText(token.text) : <KeptInline key={index} token={token} />))}</>
);

/** Most of an answer is plain text, and each component costs time when it is drawn and removed. */
const isPlain = (token: Token): token is Tokens.Text => token.type === 'text' && !('tokens' in token && token.tokens);

const drawInlines = (tokens: readonly Token[]) => <Inlines tokens={tokens} />;

const KeptInline = ({ token }: { token: Token }) => useMemo(() => <Inline token={token} />, [token.type, token.raw]);

function Pieces({ tokens }: { tokens: readonly Token[] }) {
  const pieces = toPieces(tokens);
  const count = useStepwise(pieces.length, STEP_PIECES);
  return (
    <>
      {pieces.slice(0, count).map((piece, index) => (
        <Piece key={index} tokens={piece} />
      ))}
    </>
  );
}

const Piece = ({ tokens }: { tokens: readonly Token[] }) =>
  useMemo(
    () => (
      <span class="piece">
        <Inlines tokens={tokens} />
      </span>
    ),
    [tokens.map(({ raw }) => raw).join('')],
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

function List({ token, growing }: { token: Tokens.List; growing: boolean }) {
  const count = useStepwise(token.items.length, STEP_ITEMS);
  const items = token.items
    .slice(0, count)
    .map((item, index) => (
      <Item key={index} item={item} loose={token.loose} growing={growing && index === token.items.length - 1} />
    ));
  const dir = directionOf(token.raw);
  if (!token.ordered) return <ul dir={dir}>{items}</ul>;
  return (
    <ol dir={dir} start={typeof token.start === 'number' ? token.start : 1}>
      {items}
    </ol>
  );
}

/** `loose` is passed separately because the list may have become loose after this item was parsed. */
const Item = ({ item, loose, growing }: { item: Tokens.ListItem; loose: boolean; growing: boolean }) =>
  useMemo(
    () => (
      <li class={item.task ? 'task' : undefined}>
        <Blocks tokens={loose ? item.tokens.map(toParagraph) : item.tokens} growing={growing} />
      </li>
    ),
    [item.raw, loose, growing],
  );

const toParagraph = (token: Token): Token => (token.type === 'text' ? { ...token, type: 'paragraph' } : token);

/** What models write in addition to the standard. */
function Extra({ token }: { token: Token }) {
  if (isMath(token)) return <FormulaPart token={token} />;
  if (isFootnoteMark(token)) return <FootnoteMark label={token.label} />;
  if (!isFootnote(token)) return <>{token.raw}</>;
  return (
    <Footnote label={token.label}>
      <Inlines tokens={token.tokens} />
    </Footnote>
  );
}

function Inline({ token }: { token: Token }) {
  if (!isMarked(token)) return <Extra token={token} />;
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
      return (
        <code>
          <FileName text={token.text} />
        </code>
      );
    case 'br':
      return <br />;
    case 'checkbox':
      return <TaskBox done={token.checked} />;
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

const TaskBox = ({ done }: { done: boolean }) => (
  <input class="task-box" type="checkbox" checked={done} disabled aria-label={done ? 'done' : 'to do'} />
);

function Link({ token }: { token: Tokens.Link }) {
  const href = token.autolink ? token.href : toText(token.href);
  return isOpenable(href) ? (
    <a href={href} title={showHidden(href)} target="_blank" rel="noopener noreferrer">
      <Inlines tokens={token.tokens} />
    </a>
  ) : (
    <FileLink path={href}>
      <Inlines tokens={token.tokens} />
    </FileLink>
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

/** Decodes character references such as `&lt;`. */
const toText = (written: string): string =>
  showHidden(written.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi, toCharacter));

/** The browser knows all the names; what it is given is one reference and nothing else. */
const toCharacter = (reference: string): string =>
  new DOMParser().parseFromString(reference, 'text/html').documentElement.textContent ?? reference;
