import type { StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';
import { type Defect, pickEvent, pickIn, renumber } from './defect.ts';

const TOLD = 'the log agrees with the cuts';
const IN_PLACE = 'cuts are numbered and in place';
const AGAIN = 'a message sent again follows its rewind';
const ONCE = 'a key takes back once';
const KEPT = 'an accepted retry sends again';

const isCutEvent = ({ type }: StreamEvent): boolean => type === 'rewound' || type === 'compacted';
const isRetry = (event: StreamEvent): event is StreamEventOf<'rewound'> =>
  event.type === 'rewound' && event.reason === 'retry';

/** Defects in what was taken back, sent again and summarized. */
export const CUT_DEFECTS: Defect[] = [
  {
    name: 'a cut is lost',
    rule: TOLD,
    apply(evidence, random) {
      const { workstream, part } = pickIn(evidence, random, ({ cuts }) => cuts);
      workstream.cuts.splice(workstream.cuts.indexOf(part), 1);
    },
  },
  {
    name: 'nobody is told of a cut',
    rule: TOLD,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isCutEvent);
      workstream.events.splice(part[0], 1);
      renumber(workstream.events);
    },
  },
  {
    name: 'a cut is told twice',
    rule: TOLD,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isCutEvent);
      workstream.events.splice(part[0], 0, structuredClone(part[1]));
      renumber(workstream.events);
    },
  },
  {
    name: 'a summary is stored twice',
    rule: TOLD,
    apply(evidence, random) {
      const { workstream, part } = pickIn(evidence, random, ({ cuts }) => cuts.filter(isCompaction));
      workstream.cuts.push({ ...part, n: workstream.cuts.length + 1 });
    },
  },
  {
    name: 'a rewind goes further back than was told',
    rule: TOLD,
    apply(evidence, random) {
      const { part } = pickIn(evidence, random, ({ cuts }) => cuts.filter(({ kind }) => kind === 'rewind'));
      part.after_seq -= 1;
    },
  },
  {
    name: 'a compaction has no summary',
    rule: IN_PLACE,
    apply(evidence, random) {
      const { part } = pickIn(evidence, random, ({ cuts }) => cuts.filter(isCompaction));
      part.body_json = null;
    },
  },
  {
    name: 'two cuts have one number',
    rule: IN_PLACE,
    apply(evidence, random) {
      const { part } = pickIn(evidence, random, ({ cuts }) => cuts.slice(1));
      part.n -= 1;
    },
  },
  {
    name: 'a cut takes messages that did not exist',
    rule: IN_PLACE,
    apply(evidence, random) {
      const { workstream, part } = pickIn(evidence, random, ({ cuts }) => cuts);
      part.to_seq = workstream.messageCount + 1;
    },
  },
  {
    name: 'a crash separates a rewind from the message that is sent again',
    rule: AGAIN,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isRetry);
      workstream.events.splice(part[0] + 1, 1);
      renumber(workstream.events);
    },
  },
  {
    name: 'a retry sends another message',
    rule: AGAIN,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isRetry);
      const next = workstream.events[part[0] + 1]?.event;
      if (next?.type === 'user_turn') next.message = 'something else';
    },
  },
  {
    name: 'a repeated retry is carried out again',
    rule: ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isRetry);
      workstream.events.splice(part[0], 0, structuredClone(part[1]));
      renumber(workstream.events);
    },
  },
  {
    name: 'a rewind that nobody asked for',
    rule: ONCE,
    apply(evidence) {
      evidence.calls = evidence.calls.filter(({ method }) => method !== 'workstream.rewind');
    },
  },
  {
    name: 'an accepted retry is lost',
    rule: KEPT,
    apply(evidence, random) {
      const { part } = pickEvent(evidence, random, isRetry);
      Object.assign(part[1].event, { reason: 'rewind' });
    },
  },
  {
    name: 'a repeated retry is answered with another run',
    rule: KEPT,
    apply({ calls }) {
      const last = calls.findLast(({ method }) => method === 'workstream.retry');
      if (!last) throw new Error('there is no retry');
      for (const answer of last.answers) answer.payload = { status: 'ok', runId: 'another' };
    },
  },
];

const isCompaction = ({ kind }: { kind: string }): boolean => kind === 'compaction';
