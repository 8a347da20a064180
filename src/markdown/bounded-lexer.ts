import { Lexer, type MarkedOptions, type Token, Tokenizer, type Tokens, type TokensList } from 'marked';

/** Of blocks in blocks. Nobody writes so many, and each level is read once for every level around it. */
const DEEPEST = 32;
/** Of a quotation: what is left of it is copied with each line that its writer did not mark. */
const LONGEST_QUOTATION = 32_768;
/** Of a quotation, in all: what follows a change of its depth is read again for each change before it. */
const MOST_QUOTED_CHARS = 500_000;
/** Of one paragraph. Marks such as `_` are compared with each other, which takes a time that grows with the square. */
const MOST_INLINE_CHARS = 8_192;

/**
 * Reads Markdown of models. What is nested too deeply, and paragraphs that are too long, stay text as they are: `> > > …`
 * of 100 kB would keep a program busy for minutes.
 */
export class BoundedLexer extends Lexer {
  #depth = 0;

  constructor({ extensions }: Pick<MarkedOptions, 'extensions'> = {}) {
    super({ gfm: true, tokenizer: new BoundedTokenizer(), ...(extensions && { extensions }) });
  }

  override blockTokens(src: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], isClipped = false): Token[] {
    if (this.#depth === DEEPEST) {
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

class BoundedTokenizer extends Tokenizer {
  #quotations = 0;

  override blockquote(src: string): Tokens.Blockquote | undefined {
    const raw = src.length > LONGEST_QUOTATION ? (this.rules.block.blockquote.exec(src)?.[0] ?? '') : '';
    if (raw.length > LONGEST_QUOTATION) return quoted(raw);
    if (this.#quotations * src.length > MOST_QUOTED_CHARS && /^ {0,3}>/.test(src)) return quoted(src);
    this.#quotations += 1;
    try {
      return super.blockquote(src);
    } finally {
      this.#quotations -= 1;
    }
  }
}

const quoted = (raw: string): Tokens.Blockquote => ({ type: 'blockquote', raw, text: raw, tokens: [plain(raw)] });

const plain = (text: string): Token => ({ type: 'text', raw: text, text });
