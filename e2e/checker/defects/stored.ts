import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { isAsked } from '../../../src/agent/message.ts';
import type { JournalEntry } from '../../../src/agent/run/journal.ts';
import { type Defect, isEnded, pickEvent, pickIn, pickRun, renumber } from './defect.ts';

const ONE_END = 'a run has one terminal record';
const ONE_DECISION = 'an approval has one decision';
const TRANSCRIPT = 'the log agrees with the stored messages';
const STAYS = 'stored data stays';

const isEnd = (event: StreamEvent): boolean => event.type === 'ws_state' && event.run !== undefined;

/** A part of an answer that was not voided by the kill. */
const isKept = (event: StreamEvent): boolean => event.type === 'content' && !event.text.startsWith('Half an');

/** The question about calls; others have rules of their own. */
const isAboutTools = (entry: JournalEntry): boolean => entry.kind === 'approval_asked' && entry.question === 'tools';

const isDenial = (event: StreamEvent): boolean =>
  event.type === 'approval_resolved' && !event.approved && event.call_ids.length > 0;

/** Defects in the stored data. */
export const STORED_DEFECTS: Defect[] = [
  {
    name: 'the log loses an event',
    rule: 'the offsets of a log have no gaps',
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, ({ type }) => type !== 'ws_state');
      workstream.events.splice(part[0], 1);
    },
  },
  {
    name: 'a delta is written twice',
    rule: TRANSCRIPT,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isKept);
      workstream.events.splice(part[0], 0, structuredClone(part[1]));
      renumber(workstream.events);
    },
  },
  {
    name: 'a delta is stored and shown with a different text',
    rule: TRANSCRIPT,
    apply(evidence, random) {
      const { part } = pickEvent(evidence, random, isKept);
      const { event } = part[1];
      if (event.type === 'content') event.text = event.text.toUpperCase();
    },
  },
  {
    name: 'a user message is lost',
    rule: TRANSCRIPT,
    apply(evidence, random) {
      const { workstream, part } = pickIn(evidence, random, ({ messages }) =>
        messages.filter(({ message }) => isAsked(message)),
      );
      workstream.messages.splice(workstream.messages.indexOf(part), 1);
      for (const [index, message] of workstream.messages.entries()) message.seq = index + 1;
      workstream.messageCount -= 1;
    },
  },
  {
    name: 'a stored message is not counted',
    rule: 'the message numbers have no gaps',
    apply(evidence, random) {
      random.pick(evidence.disk.workstreams).messageCount -= 1;
    },
  },
  {
    name: 'a run emits events after its end',
    rule: 'the log has no events between runs',
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isEnd);
      const event: StreamEvent = { type: 'tool_output_chunk', call_id: 'call', chunk: 'still here' };
      workstream.events.splice(part[0] + 1, 0, { offset: 0, event });
      renumber(workstream.events);
    },
  },
  {
    name: 'a run has no end',
    rule: ONE_END,
    apply(evidence, random) {
      const { part } = pickRun(evidence, random, isEnded);
      part.journal = part.journal.filter(({ kind }) => kind !== 'ended');
    },
  },
  {
    name: 'no event says that a run has ended',
    rule: ONE_END,
    apply(evidence, random) {
      const { part } = pickEvent(evidence, random, isEnd);
      const { event } = part[1];
      if (event.type === 'ws_state') delete event.run;
    },
  },
  {
    name: 'a run has two ends',
    rule: ONE_END,
    apply(evidence, random) {
      const { part } = pickRun(evidence, random, isEnded);
      part.journal.push(...part.journal.slice(-1));
    },
  },
  {
    name: 'two events say that a run has ended',
    rule: ONE_END,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isEnd);
      workstream.events.splice(part[0], 0, structuredClone(part[1]));
      renumber(workstream.events);
    },
  },
  {
    name: 'a run is still open at rest',
    rule: 'no run is open at rest',
    apply(evidence, random) {
      const { part } = pickRun(evidence, random, isEnded);
      part.run.status = 'running';
    },
  },
  {
    name: 'two runs are active at once',
    rule: 'one run at a time',
    apply(evidence, random) {
      const { runs } = random.pick(evidence.disk.workstreams.filter((workstream) => workstream.runs.length > 1));
      for (const { run } of runs.slice(0, 2)) run.status = 'running';
    },
  },
  {
    name: 'a superseded run continues',
    rule: 'one run at a time',
    apply(evidence, random) {
      const { part, workstream } = pickRun(evidence, random, isEnded);
      part.run.status = 'running';
      part.run.epoch = workstream.runEpoch + 1;
    },
  },
  {
    name: 'an approval is forgotten',
    rule: ONE_DECISION,
    apply(evidence, random) {
      const { workstream, part } = pickIn(evidence, random, ({ approvals }) =>
        approvals.filter(({ kind }) => kind !== 'budget'),
      );
      workstream.approvals.splice(workstream.approvals.indexOf(part), 1);
    },
  },
  {
    name: 'an approval is decided twice',
    rule: ONE_DECISION,
    apply(evidence, random) {
      const { part } = pickRun(evidence, random, ({ journal }) => journal.some(isAboutTools));
      const decision = part.journal.find(({ kind }) => kind === 'approval_decided');
      if (decision) part.journal.splice(part.journal.indexOf(decision), 0, structuredClone(decision));
    },
  },
  {
    name: 'a denial is reported as an approval',
    rule: ONE_DECISION,
    apply(evidence, random) {
      const { part } = pickEvent(evidence, random, isDenial);
      Object.assign(part[1].event, { approved: true });
    },
  },
  {
    name: 'a tool is started twice for one approval',
    rule: 'a tool starts once per permission',
    apply(evidence, random) {
      const isStart = (entry: JournalEntry) => entry.kind === 'tool_started' && !entry.safeToRepeat;
      const { part } = pickRun(evidence, random, ({ journal }) => journal.some(isStart) && journal.some(isAboutTools));
      part.journal.push(...part.journal.filter(isStart).slice(0, 1));
    },
  },
  {
    name: 'a denied tool is started',
    rule: 'a tool starts once per permission',
    apply(evidence, random) {
      const { part } = pickRun(
        evidence,
        random,
        ({ journal }) =>
          journal.some((entry) => entry.kind === 'approval_decided' && !entry.decision.approved) &&
          journal.every((entry) => entry.kind !== 'approval_asked' || entry.question === 'tools'),
      );
      const asked = part.journal.find((entry) => entry.kind === 'approval_asked');
      const [callId = ''] = asked?.kind === 'approval_asked' ? Object.keys(asked.digests) : [];
      const atMs = asked?.atMs ?? 0;
      part.journal.push({ kind: 'tool_started', callId, safeToRepeat: false, atMs });
    },
  },
  {
    name: 'a tool call has no result',
    rule: 'a tool call has one result',
    apply(evidence, random) {
      const { workstream, part } = pickIn(evidence, random, ({ messages }) =>
        messages.filter(({ message }) => message.role === 'tool'),
      );
      workstream.messages.splice(workstream.messages.indexOf(part), 1);
    },
  },
  {
    name: 'a tool call has two results',
    rule: 'a tool call has one result',
    apply(evidence, random) {
      const { workstream, part } = pickIn(evidence, random, ({ messages }) =>
        messages.filter(({ message }) => message.role === 'tool'),
      );
      workstream.messages.push(structuredClone(part));
    },
  },
  {
    name: 'a stored record is changed',
    rule: STAYS,
    apply({ earlier }, random) {
      random.pick(earlier?.workstreams ?? []).events.reverse();
    },
  },
  {
    name: 'an ended run gets a different end',
    rule: STAYS,
    apply({ earlier }, random) {
      const runs = earlier?.workstreams.flatMap((workstream) => workstream.runs) ?? [];
      random.pick(runs.filter(isEnded)).run.status = 'timeout';
    },
  },
];
