import { isRecord } from '../../../../protocol/is-record.ts';

/** A longer source was not written for reading. */
export const MAX_SOURCE_CHARS = 20_000;
/** A larger picture is not shown. */
const MAX_PICTURE_CHARS = 1_000_000;
/** In pixels. */
const MAX_SIDE = 20_000;
/** What a frame says of a source that it could not draw. */
const MAX_REASON_CHARS = 500;

/** What the page asks of the frame that draws. */
export interface DrawRequest {
  id: number;
  source: string;
  isDark: boolean;
}

/** A finished picture: SVG, which the page shows as an image, so that nothing in it runs. */
export interface Picture {
  kind: 'picture';
  svg: string;
  width: number;
  height: number;
  /** What diagram it is, such as `sequence`. */
  type: string;
  /** As its source says. */
  title: string;
  description: string;
}

/** Why there is none. */
export interface NoPicture {
  kind: 'none';
  reason: string;
  /** Another attempt may succeed. */
  isPassing?: true;
}

/** What the frame answers; without an id it is ready. */
export type DrawAnswer = { kind: 'ready' } | ((Picture | NoPicture) & { id: number });

/** Undefined for everything that the page never sends. */
export function toDrawRequest(message: unknown): DrawRequest | undefined {
  if (!isRecord(message)) return undefined;
  const { id, source, isDark } = message;
  if (typeof id !== 'number' || typeof source !== 'string' || typeof isDark !== 'boolean') return undefined;
  return source.length <= MAX_SOURCE_CHARS ? { id, source, isDark } : undefined;
}

export const isTooLarge = ({ svg, width, height }: Pick<Picture, 'svg' | 'width' | 'height'>): boolean =>
  svg.length > MAX_PICTURE_CHARS || width > MAX_SIDE || height > MAX_SIDE;

/** Undefined for everything that the frame never answers. Scripts of a diagram could run in the frame, so nothing here is trusted. */
export function toDrawAnswer(message: unknown): DrawAnswer | undefined {
  if (!isRecord(message)) return undefined;
  if (message.kind === 'ready') return { kind: 'ready' };
  const { id } = message;
  if (typeof id !== 'number') return undefined;
  const answer = message.kind === 'none' ? toNoPicture(message) : toPicture(message);
  return answer && { ...answer, id };
}

const toNoPicture = ({ reason }: Record<string, unknown>): NoPicture => ({ kind: 'none', reason: toLine(reason) });

function toPicture({ kind, svg, width, height, ...words }: Record<string, unknown>): Picture | undefined {
  if (kind !== 'picture' || typeof svg !== 'string' || !svg.startsWith('<svg')) return undefined;
  if (!isLength(width) || !isLength(height) || isTooLarge({ svg, width, height })) return undefined;
  const [type = '', title = '', description = ''] = [words.type, words.title, words.description].map(toLine);
  return { kind, svg, width, height, type, title, description };
}

const isLength = (value: unknown): value is number => typeof value === 'number' && value > 0;

const toLine = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, MAX_REASON_CHARS).replaceAll(/\s+/g, ' ').trim() : '';
