import type { Token } from 'marked';
import type { Paint } from './paint.ts';

/** The inside of a paragraph, with its emphasis as styles. */
export function toInline(tokens: readonly Token[], paint: Paint): string {
  return tokens.map((token) => toStyled(token, paint)).join('');
}

/** The same without any style. */
export const toInlineText = (tokens: readonly Token[]): string => toInline(tokens, (_style, text) => text);

function toStyled(token: Token, paint: Paint): string {
  const inner = () => ('tokens' in token && token.tokens ? toInline(token.tokens, paint) : toText(token));
  switch (token.type) {
    case 'strong':
      return paint('bold', inner());
    case 'em':
      return paint('italic', inner());
    case 'del':
      return paint('strikethrough', inner());
    case 'codespan':
      return paint('yellow', toText(token));
    case 'br':
      return '\n';
    case 'link':
      return toLink({ shown: inner(), href: String(token.href) }, paint);
    case 'image':
      return toLink({ shown: `image: ${toText(token)}`, href: String(token.href) }, paint);
    case 'checkbox':
      return ''; // the list draws it
    default:
      return inner();
  }
}

/** Always shows the address, so that the text of a link cannot hide where it leads. */
function toLink({ shown, href }: { shown: string; href: string }, paint: Paint): string {
  const isPlain = shown === href || `mailto:${shown}` === href || `http://${shown}` === href;
  return isPlain ? paint('underline', shown) : `${paint('underline', shown)} ${paint('dim', `(${href})`)}`;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00a0' };

function toText(token: Token): string {
  const text = 'text' in token ? String(token.text) : token.raw;
  return token.type === 'codespan'
    ? text
    : text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
