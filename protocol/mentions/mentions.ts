import { trimEndOf } from '../text/trimmed-text.ts';

/** A file that a message names, such as `@src/main.ts#20-45`. */
export interface Mention {
  /** As it was typed. */
  text: string;
  path: string;
  /** The first and last line, from 1; undefined: the whole file. */
  lines: { first: number; last: number } | undefined;
}

const MENTION = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"#]+))(?:#(\d{1,7})(?:-(\d{1,7}))?)?/g;
/** A sentence may end behind the name. */
const PUNCTUATION = '.,;:!?)]';

/** Everything in a text that may name a file, each once. */
export function findMentions(text: string): Mention[] {
  const found = [...text.matchAll(MENTION)].map(([typed, quoted, plain = '', from, to = from]): Mention => {
    const path = quoted ?? (from === undefined ? trimEndOf(plain, PUNCTUATION) : plain);
    const lines = from === undefined ? undefined : { first: Number(from), last: Number(to) };
    return { text: typed, path, lines };
  });
  const byText = new Map(found.filter(({ path }) => path !== '').map((mention) => [mention.text, mention]));
  return [...byText.values()];
}

/** The beginning of a mention that ends at the cursor, without its `@`; undefined if none is being typed. */
export function mentionBefore(text: string, cursor: number): string | undefined {
  const [, query] = /(?:^|\s)@([^\s"#]*)$/.exec(text.slice(0, cursor)) ?? [];
  return query;
}

/** A path as it is typed behind `@`. */
export const toMentioned = (path: string): string => (/[\s"#]/.test(path) ? `"${path}"` : path);
