import { Lexer, type MarkedOptions, type Token, Tokenizer, type Tokens, type TokensList } from 'marked';

/** Of blocks in blocks. Nobody writes so many, and each level is read once for every level around it. */
const DEEPEST = 32;
/** Of marks in marks, such as emphasis in emphasis. */
const DEEPEST_MARKS = 32;
/** Lines of a quotation that are copied for those that its writer did not mark: what is left of it is copied with each of them. */
const MOST_COPIES = 4_000_000;
/** In shorter texts, there cannot be so many. */
const SHORT = 4_096;
/** Of a quotation, in all: what follows a change of its depth is read again for each change before it. */
const MOST_QUOTED_CHARS = 500_000;
/** A longer paragraph is read in parts: marks such as `_` are compared with each other, in a time that grows with the square. */
const LONG_PARAGRAPH = 6_000;
const MOST_OF_PART = 4_096;

/**
 * Reads Markdown of models. What is nested too deeply stays text as it is, and long paragraphs are read in parts: `> > > …` of
 * 100 kB would keep a program busy for minutes.
 */
export class BoundedLexer extends Lexer {
  #depth = 0;
  #marks = 0;

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
    if (this.#marks === DEEPEST_MARKS) {
      tokens.push(plain(src));
      return tokens;
    }
    this.#marks += 1;
    try {
      for (const part of partsOf(src)) super.inlineTokens(part, tokens);
    } finally {
      this.#marks -= 1;
    }
    return tokens;
  }
}

/** Parts of a paragraph that end with a line, a sentence or a word. */
function partsOf(text: string): string[] {
  if (text.length <= LONG_PARAGRAPH) return [text];
  const parts: string[] = [];
  for (let start = 0; start < text.length; start += parts.at(-1)?.length ?? 0) {
    const part = text.slice(start, start + MOST_OF_PART);
    const isLast = start + part.length === text.length;
    const end = isLast ? 0 : part.lastIndexOf('\n') + 1 || part.lastIndexOf('. ') + 1 || part.lastIndexOf(' ') + 1;
    parts.push(end === 0 ? part : part.slice(0, end));
  }
  return parts;
}

class BoundedTokenizer extends Tokenizer {
  #quotations = 0;

  override blockquote(src: string): Tokens.Blockquote | undefined {
    const raw = src.length > SHORT ? (this.rules.block.blockquote.exec(src)?.[0] ?? '') : '';
    if (copiesIn(raw) > MOST_COPIES) return quoted(raw);
    if (this.#quotations * src.length > MOST_QUOTED_CHARS && MARKED.test(src)) return quoted(src);
    this.#quotations += 1;
    try {
      return super.blockquote(src);
    } finally {
      this.#quotations -= 1;
    }
  }
}

const MARKED = /^ {0,3}>/;

function copiesIn(quotation: string): number {
  const lines = quotation.split('\n');
  return lines.length * lines.filter((line) => !MARKED.test(line)).length;
}

const quoted = (raw: string): Tokens.Blockquote => ({ type: 'blockquote', raw, text: raw, tokens: [plain(raw)] });

const plain = (text: string): Token => ({ type: 'text', raw: text, text });
