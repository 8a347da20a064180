import { type Piece, piecesOf } from './pieces.ts';
import { type CutPlace, isForModels, type StoredConversation, type StoredCut } from './stored-cuts.ts';

/** The messages of a request, and how far its conversation was cut then. */
export interface Placed {
  messages: string;
  place: CutPlace;
}

/** The cuts between two requests, with where the context began anew between them. */
export function cutsBetween({ place: from }: Placed, { place: to }: Placed, { cuts }: StoredConversation): StoredCut[] {
  const between = cuts().filter(({ n, kind }) => n > from.cuts && n <= to.cuts && isForModels(kind));
  if (from.contextAfter === to.contextAfter) return between;
  const { contextAfter } = to;
  return [
    ...between,
    { n: to.cuts + 1, kind: 'compaction', after_seq: from.contextAfter, to_seq: contextAfter, at_seq: contextAfter },
  ];
}

/**
 * What is wrong with a request after cuts: something that no cut names is missing or stands elsewhere, or something that a
 * cut names is still there. `isMoved`: to another family, which may read images that the server of the first one refused, or
 * have refused some that the first one reads.
 */
export function findUnexplained(
  previous: Placed,
  next: Placed,
  { cuts, stored, isMoved = false }: { cuts: readonly StoredCut[]; stored: StoredConversation; isMoved?: boolean },
): string | undefined {
  const messages = stored.messages().filter(({ seq }) => seq > previous.place.contextAfter);
  const isNamed = (piece: Piece): boolean => {
    const seq = messages.find(({ json }) => piece.stored.test(json))?.seq;
    return seq !== undefined && cuts.some((cut) => names(cut, piece, seq));
  };
  const kinds = cuts.map(({ kind }) => kind).join(', ') || 'nothing';
  const owned = (messages: string) => piecesOf(messages).filter((piece) => stored.owns?.(piece) ?? true);
  const before = owned(previous.messages).filter(({ kind, name }) => !isMoved || !isInWords(kind, name, next));
  const { named = [], kept = [] } = Object.groupBy(before, (piece) => (isNamed(piece) ? 'named' : 'kept'));
  const isExpected = ({ kind, name }: Piece) => !isMoved || kind !== 'image' || before.some((one) => one.name === name);
  const after = owned(next.messages).filter(isExpected);
  const present = new Set(after.map(({ name }) => name));
  const left = named.find(({ name }) => present.has(name));
  if (left) return `after ${kinds}, ${left.name} is still sent`;
  for (const [index, { name }] of kept.entries()) {
    const found = after[index]?.name;
    if (found !== name) return `after ${kinds}, ${found ?? 'nothing'} stands in place of ${name}`;
  }
  return undefined;
}

/** Whether words stand in place of an image. */
const isInWords = (kind: Piece['kind'], name: string, { messages }: Placed): boolean =>
  kind === 'image' && messages.includes(`\\"${name.slice('image '.length)}.png\\" (`);

/** Whether a cut takes this piece of the message with this number from the model. */
function names({ kind, after_seq, to_seq }: StoredCut, piece: Piece, seq: number): boolean {
  if (seq <= after_seq || seq > to_seq) return false;
  switch (kind) {
    case 'compaction':
      return true;
    case 'prune':
      return piece.isLong;
    case 'images':
      return piece.kind === 'image';
    case 'attachments':
      return piece.kind === 'image' || piece.kind === 'file';
    default:
      return false; // only reasoning, or what stands before the messages
  }
}
