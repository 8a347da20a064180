import type { Evidence, WorkstreamOnDisk } from '../evidence.ts';
import type { Random } from '../random.ts';
import { type Defect, pickIn } from './defect.ts';

const ONCE = 'a call has each of its children made once';
const THERE = 'the children of a result are there';
const TOLD = 'a child gets each message of its coordinator once';
const SAID = 'a coordinator hears what its children said';

const pickChild = (evidence: Evidence, random: Random): WorkstreamOnDisk =>
  pickIn(evidence, random, (workstream) => (workstream.madeBy === undefined ? [] : [workstream])).part;

/** The result of a call of a coordinator. */
function resultOf({ disk }: Evidence, callId: string) {
  const messages = disk.workstreams.flatMap((workstream) => workstream.messages.map(({ message }) => message));
  const result = messages.find((message) => message.role === 'tool' && message.callId === callId);
  if (result?.role !== 'tool') throw new Error(`${callId} has no result`);
  return result;
}

/** Defects of the children of coordinators. */
export const CHILD_DEFECTS: Defect[] = [
  {
    name: 'a crash leads to a second child for the same call',
    rule: ONCE,
    apply(evidence, random) {
      const twin = structuredClone(pickChild(evidence, random));
      evidence.disk.workstreams.push({ ...twin, wsId: '0'.repeat(32) });
    },
  },
  {
    name: 'a child is made, although a person denied it',
    rule: ONCE,
    apply(evidence) {
      resultOf(evidence, 'call-spawn').outcome = 'denied';
    },
  },
  {
    name: 'a child is made by no call',
    rule: ONCE,
    apply(evidence, random) {
      pickChild(evidence, random).name = 'nobody-asked';
    },
  },
  {
    name: 'a result lacks a child that its call had made',
    rule: ONCE,
    apply(evidence, random) {
      const result = resultOf(evidence, 'call-spawn');
      result.output = result.output.replaceAll(pickChild(evidence, random).wsId, '');
    },
  },
  {
    name: 'a child that was made is lost',
    rule: THERE,
    apply(evidence, random) {
      const lost = pickChild(evidence, random);
      evidence.disk.workstreams = evidence.disk.workstreams.filter((workstream) => workstream !== lost);
    },
  },
  {
    name: 'a child gets its first message twice',
    rule: TOLD,
    apply(evidence, random) {
      const { runs } = pickChild(evidence, random);
      const [first] = runs;
      if (first) runs.push(structuredClone(first));
    },
  },
  {
    name: 'a message to a child is lost',
    rule: TOLD,
    apply({ disk }) {
      for (const workstream of disk.workstreams)
        if (workstream.madeBy !== undefined)
          workstream.runs = workstream.runs.filter(({ run }) => !run.request_json.includes('and a little more'));
    },
  },
  {
    name: 'a coordinator hears what no child said',
    rule: SAID,
    apply(evidence) {
      const result = resultOf(evidence, 'call-wait');
      result.output = result.output.replace(/(part|More) is done/, 'Nothing is done');
    },
  },
  {
    name: 'a coordinator hears one child in the place of another',
    rule: SAID,
    apply(evidence) {
      const result = resultOf(evidence, 'call-wait');
      const ids = evidence.disk.workstreams.flatMap(({ wsId, madeBy }) => (madeBy === undefined ? [] : [wsId]));
      const [one = '', other = ''] = ids;
      result.output = result.output.replaceAll(one, '-').replaceAll(other, one).replaceAll('-', other);
    },
  },
];
