import DOMPurify from 'dompurify';
import { Parser, Renderer, type Token, type Tokens } from 'marked';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type MarkdownPart, splitMarkdown } from '../state/markdown-split.ts';
import { CodeBlock } from './code.tsx';

/** A model's Markdown. While it streams only its last block is read and sanitised again. */
export function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  const earlier = useRef<{ text: string; parts: readonly MarkdownPart[] }>({ text: '', parts: [] });
  const parts = useMemo(() => {
    const grows = streaming && text.startsWith(earlier.current.text);
    const split = splitMarkdown(text, grows ? earlier.current.parts : []);
    earlier.current = { text, parts: split };
    return split;
  }, [text, streaming]);
  return (
    <div class="markdown">
      {parts.map(({ at, token }) => (
        <Part key={at} token={token} />
      ))}
    </div>
  );
}

const Part = ({ token }: { token: Token }) =>
  useMemo(
    () => (isCode(token) ? <CodeBlock text={token.text} language={token.lang ?? ''} /> : <HtmlPart token={token} />),
    [token.raw],
  );

function HtmlPart({ token }: { token: Token }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => element.current?.replaceChildren(toFragment(token)), [token]);
  return <div ref={element} />;
}

const toFragment = (token: Token): DocumentFragment =>
  DOMPurify.sanitize(Parser.parse([token], { renderer }), {
    RETURN_DOM_FRAGMENT: true,
    ALLOWED_TAGS:
      'a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr input li ol p pre strong table tbody td th thead tr ul'.split(
        ' ',
      ),
    ALLOWED_ATTR: ['align', 'checked', 'class', 'disabled', 'href', 'rel', 'start', 'target', 'title', 'type'],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    // Without this the line above is asked about these too, and drops them.
    ADD_URI_SAFE_ATTR: ['align', 'checked', 'disabled', 'rel', 'start', 'target', 'type'],
    ALLOW_DATA_ATTR: false,
  });

const renderer = new Renderer();
/** HTML that a model writes is text. */
renderer.html = ({ text }) => (/^<br\s*\/?>$/i.test(text.trim()) ? '<br>' : toEntities(text));
/** An image is never loaded: its address could carry away what the model has read. */
renderer.image = ({ href, text }) => toLink(href, `image: ${text === '' ? href : text}`, 'image-link');
renderer.link = function ({ href, tokens }: Tokens.Link) {
  return /^(https?|mailto):/i.test(href)
    ? `<a href="${toEntities(href)}" title="${toEntities(href)}" target="_blank" rel="noopener noreferrer">${this.parser.parseInline(tokens)}</a>`
    : this.parser.parseInline(tokens);
};

const toLink = (href: string, text: string, className: string) =>
  `<a class="${className}" href="${toEntities(href)}" title="${toEntities(href)}" target="_blank" rel="noopener noreferrer">${toEntities(text)}</a>`;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const toEntities = (text: string) => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);

const isCode = (token: Token): token is Tokens.Code => token.type === 'code';
