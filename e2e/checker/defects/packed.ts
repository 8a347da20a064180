import type { StreamEventOf } from '../../../protocol/stream-events.ts';
import type { Evidence, Logged } from '../evidence.ts';
import type { Random } from '../random.ts';
import { type Defect, pickFrame, pickIn, renumber } from './defect.ts';

const TRANSCRIPT = 'the log agrees with the stored messages';

/** Defects of logs whose deltas were packed into one row, as such a row would be read. */
export const PACKED_DEFECTS: Defect[] = [
  {
    name: 'a packed answer loses the rest of its text',
    rule: TRANSCRIPT,
    apply(evidence, random) {
      for (const piece of pickPieces(evidence, random).pieces.slice(1)) piece.text = '';
    },
  },
  {
    name: 'the pieces of a packed answer repeat what is before them',
    rule: TRANSCRIPT,
    apply(evidence, random) {
      let before = '';
      for (const piece of pickPieces(evidence, random).pieces) {
        before += piece.text;
        piece.text = before;
      }
    },
  },
  {
    name: 'a packed answer keeps only the last of its offsets',
    rule: 'the offsets of a log have no gaps',
    apply(evidence, random) {
      const { events, first, pieces } = pickPieces(evidence, random);
      events.splice(first, pieces.length - 1);
    },
  },
  {
    name: 'packing an answer moves what follows it',
    rule: 'stored data stays',
    apply(evidence, random) {
      const { events, first, pieces } = pickPieces(evidence, random);
      const text = pieces.map((piece) => piece.text).join('');
      events.splice(first, pieces.length, { offset: 0, event: { type: 'content', text } });
      renumber(events);
    },
  },
  {
    name: 'a reader inside a packed answer gets the text before its position again',
    rule: 'every event a client received is on disk',
    apply(evidence, random) {
      const { disk } = evidence;
      const textBefore = (id: string | undefined) => {
        const offset = Number(id?.split(':')[1]);
        const events = disk.workstreams.flatMap((workstream) => workstream.events);
        const isBefore = events.find((logged) => logged.offset === offset - 1 && logged.event.type === 'content');
        return isBefore?.event.type === 'content' ? isBefore.event.text : '';
      };
      const fits = ({ stream, index, event }: Parameters<Parameters<typeof pickFrame>[2]>[0]) =>
        event.type === 'content' && textBefore(stream.frames[index]?.id) !== '';
      const { stream, index, event } = pickFrame(evidence, random, fits);
      if (event.type === 'content') event.text = textBefore(stream.frames[index]?.id) + event.text;
    },
  },
];

/** Two or more adjacent pieces of an answer, at a place of a log. */
function pickPieces(evidence: Evidence, random: Random) {
  const { workstream, part } = pickIn(evidence, random, ({ events }) =>
    [...events.keys()].flatMap((first) => {
      const pieces = piecesFrom(events, first);
      return pieces.length > 1 ? [{ first, pieces }] : [];
    }),
  );
  return { ...part, events: workstream.events };
}

function piecesFrom(events: readonly Logged[], first: number): StreamEventOf<'content'>[] {
  const pieces: StreamEventOf<'content'>[] = [];
  for (const { event } of events.slice(first)) {
    if (event.type !== 'content') break;
    pieces.push(event);
  }
  return pieces;
}
