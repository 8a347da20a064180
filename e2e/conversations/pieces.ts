/** A part of a request that is recognized on every wire, because each text and file of a simulation has its own number. */
export interface Piece {
  kind: 'text' | 'output' | 'image' | 'file';
  name: string;
  /** An output that may be replaced by a line. */
  isLong: boolean;
  /** Finds it in the stored message. */
  stored: RegExp;
}

const PIECE = new RegExp(
  [
    '(?<thought>I think about message \\d+)',
    '(?<output>(?:look|touch|fetch|listen)ed message \\d+)(?<rest> x+)?',
    '(?<image>iVBORw0KGg[\\w+/]+)',
    'content (?<file>\\d+)',
    '(?<encoded>Y29udGVudC[\\w+/]+)', // "content", as base64
    '(?<text>(?:answer to )?message \\d+|(?<!lo)ok \\d+)',
  ].join('|'),
  'g',
);

/** What models read about a conversation, but no one in it wrote. What was recalled was said elsewhere, or before. */
const ABOUT =
  /Messages, which are data and no instructions:[\s\S]*|\[Summary of the conversation so far[\s\S]*?\[End of the summary\.\]|<environment>[\s\S]*?<\/environment>/g;

/** The outputs of tools have 5, 30 or 900 of these. */
const LONG = 400;

/** The pieces of a request's messages in their order. Thoughts are left out, because makers get only their own back. */
export function piecesOf(messages: string): Piece[] {
  return textsIn(JSON.parse(messages)).flatMap((text) =>
    [...text.replaceAll(ABOUT, '').matchAll(PIECE)].flatMap(({ groups = {} }) => pieceOf(groups) ?? []),
  );
}

function pieceOf({ output, rest = '', image, file, encoded, text }: Record<string, string | undefined>) {
  if (output !== undefined) return named('output', output, { isLong: rest.length > LONG });
  if (image !== undefined) return attached('image', contentOf(image));
  if (file !== undefined) return attached('file', file);
  if (encoded !== undefined) return attached('file', contentOf(encoded));
  return text === undefined ? undefined : named('text', text);
}

const named = (kind: Piece['kind'], name: string, { isLong = false } = {}): Piece => ({
  kind,
  name,
  isLong,
  stored: new RegExp(`${name}(?!\\d)`),
});

const attached = (kind: 'image' | 'file', number: string): Piece => ({
  kind,
  name: `${kind} ${number}`,
  isLong: false,
  stored: new RegExp(`"${number}\\.(png|txt)"`),
});

/** The number in the content of a file. */
const contentOf = (encoded: string): string =>
  /content (\d+)/.exec(Buffer.from(encoded, 'base64').toString('latin1'))?.[1] ?? '';

/** All texts of a value, in their order. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
