import { Lexer, type Token, type TokensList } from 'marked';

/** Of blocks in blocks. Nobody writes so many, and each level is read once for every level around it. */
const DEEPEST = 32;
/** How often a text is read on average. A quotation may be read again with every line that continues it. */
const MOST_READINGS = 64;
/** Of one paragraph. Marks such as `_` are compared with each other, which takes a time that grows with the square. */
const MOST_INLINE_CHARS = 8_192;

/**
 * Reads Markdown of models. What is nested too deeply, paragraphs that are too long, and what was read too often stay text as they are:
 * `> > > …` of 100 kB would keep a program busy for minutes.
 */
export class BoundedLexer extends Lexer {
  #depth = 0;
  #charsLeft = 0;

  override lex(src: string): TokensList {
    this.#charsLeft = MOST_READINGS * src.length;
    return super.lex(src);
  }

  override blockTokens(src: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], isClipped = false): Token[] {
    this.#charsLeft -= src.length;
    if (this.#depth === DEEPEST || this.#charsLeft < 0) {
      tokens.push(plain(src));
      return tokens;
    }
    this.#depth += 1;
    try {
      return super.blockTokens(src, tokens, isClipped);
    } finally {
      this.#depth -= 1;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (src.length <= MOST_INLINE_CHARS) return super.inlineTokens(src, tokens);
    tokens.push(plain(src));
    return tokens;
  }
}

const plain = (text: string): Token => ({ type: 'text', raw: text, text });
