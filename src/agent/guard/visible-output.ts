import type { OutputFlag } from './output-assessment.ts';

const ESC = '\u001b';
/** Except tabs and line ends. */
const CONTROLS = '\\0-\\x08\\v\\f\\x0e-\\x1f\\x7f-\\x9f';
/** Characters of which some are written out, depending on what is around them. Most texts have none, and need no closer look. */
const UNUSUAL = new RegExp(
  `[${CONTROLS}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Mn}\\p{Me}\\u115f\\u1160\\u2800\\u3164\\uffa0]`,
  'u',
);

/**
 * In this order: colours and "erase line", which the page and the terminal show; joiners where writing needs them (in emoji, and in scripts
 * other than Latin, Greek and Cyrillic); and
 * everything that a person cannot see. Carriage returns stay, because progress bars and line ends consist of them.
 */
const TOKENS = new RegExp(
  [
    `${ESC}\\[[0-9;:]{0,64}m`,
    `${ESC}\\[[012]?K`,
    // The characters before are looked at last, because few places have such a character.
    '(\\u200d(?<=[\\p{Extended_Pictographic}\\ufe0f\\p{Emoji_Modifier}]\\u200d)(?=\\p{Extended_Pictographic})',
    '[\\u200c\\u200d](?<=[\\p{L}\\p{M}].)(?<![\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}].)(?=\\p{L}))',
    '(?![\\n\\t\\r])(?:\\u034f|\\u17b4|\\u17b5|[\\ufe00-\\ufe0e]|[\\u{e0100}-\\u{e01ef}]|[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\u115f\\u1160\\u2800\\u3164\\uffa0]|[\\p{Mn}\\p{Me}](?<=[\\p{Mn}\\p{Me}]{5}))',
  ].join('|'),
  'gu',
);
/** A sequence that may continue, a character whose neighbour decides about it, or half of a character. */
const INCOMPLETE = new RegExp(`(?:${ESC}(?:\\[[0-9;:]{0,64})?|[\\u200c\\u200d]|[\\ud800-\\udbff])$`);

/** Code units; more than four marks on one character are written out. */
const MOST_BEFORE = 8;

/** Writes out what a person cannot see, in a text that arrives in pieces. */
export class VisibleOutput {
  readonly flags = new Set<OutputFlag>();
  #held = '';
  /** The end of the text before, which decides about joiners and marks. */
  #before = '';

  write(piece: string): string {
    const text = this.#held + piece;
    this.#held = '';
    if (!UNUSUAL.test(text)) {
      if (text !== '') this.#before = text.slice(-MOST_BEFORE);
      return text;
    }
    const end = INCOMPLETE.exec(text)?.index ?? text.length;
    this.#held = text.slice(end);
    return this.#show(text.slice(0, end));
  }

  end(): string {
    const rest = this.#held;
    this.#held = '';
    return this.#show(rest);
  }

  #show(text: string): string {
    const before = this.#before;
    this.#before = (before + text).slice(-MOST_BEFORE);
    const shown = (before + text).replace(TOKENS, (token, joiner: string | undefined, at: number) => {
      if (joiner !== undefined || at < before.length) return token;
      if (token.endsWith('m') && token.startsWith(`${ESC}[`)) return this.#colour(token);
      if (token.startsWith(`${ESC}[`)) return token;
      this.flags.add(isControl(token) ? 'terminal_escape' : 'hidden_text');
      return toEscape(token);
    });
    return shown.slice(before.length);
  }

  /** Text that is drawn invisibly would be read by the model alone. */
  #colour(token: string): string {
    const codes = token.slice(2, -1).split(';');
    const shown = codes.filter((code, index) => code !== '8' || isColourPart(codes, index));
    if (shown.length === codes.length) return token;
    this.flags.add('hidden_text');
    return shown.length === 0 ? '' : `${ESC}[${shown.join(';')}m`;
  }
}

/** In `38;5;8` the last number is a colour. */
const isColourPart = (codes: readonly string[], index: number): boolean =>
  codes.slice(Math.max(0, index - 4), index).some((code) => code === '38' || code === '48');

const isControl = (token: string): boolean => {
  const code = token.codePointAt(0) ?? 0;
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
};

function toEscape(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
