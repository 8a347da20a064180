import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call, Recorded } from './history.ts';
import { unexplained } from './linearizable.ts';

type Row = [client: string, fromMs: number, toMs: number | undefined, call: Call];

const recorded = (rows: readonly Row[]): Recorded[] =>
  rows.map(([client, fromMs, toMs, call]) => ({ ...call, wsId: 'ws', client, fromMs, toMs }));

const send = (text: string, runId?: string): Call => ({
  kind: 'send',
  text,
  ...(runId !== undefined && { answer: { runId } }),
});
const history = (...answer: string[]): Call => ({ kind: 'history', answer });
const queue = (...answer: string[]): Call => ({ kind: 'queue', answer });
const asked: Call = { kind: 'asked', approvalId: 'a' };
const decide = (mark: string, approved: boolean, answer?: 'won' | 'late'): Call => ({
  ...{ kind: 'decide', approvalId: 'a', approved, mark },
  ...(answer && { answer }),
});
const decided = (approved: boolean, mark?: string): Call => ({ kind: 'decided', approvalId: 'a', approved, mark });
const approvals = (...answer: string[]): Call => ({ kind: 'approvals', answer });
const cancel = (approvalId: string | null, dropped: number): Call => ({
  kind: 'cancel',
  answer: { approvalId, dropped },
});
const lostCancel: Call = { kind: 'cancel' };

/** What a correct daemon may answer, although it looks odd. */
const ALLOWED: Record<string, Row[]> = {
  'concurrent messages, in either order': [
    ['x', 0, 10, send('one', 'r1')],
    ['y', 1, 9, send('two', 'r2')],
    ['z', 11, 12, history('two', 'one')],
  ],
  'a message whose answer was lost takes effect late': [
    ['x', 0, undefined, send('one')],
    ['y', 5, 6, send('two', 'r2')],
    ['z', 10, 11, queue()],
    ['z', 20, 21, history('two', 'one')],
  ],
  'a message whose answer was lost never takes effect': [
    ['x', 0, undefined, send('one')],
    ['y', 5, 6, send('two', 'r2')],
    ['z', 20, 21, history('two')],
  ],
  'a repeated message gets the run that its lost answer had': [
    ['x', 0, undefined, send('one')],
    ['y', 5, 6, history('one')],
    ['x', 7, 8, send('one', 'r1')],
    ['x', 9, 10, send('one', 'r1')],
  ],
  'a dropped message stays dropped when it is repeated': [
    ['x', 0, 1, send('zero', 'r0')],
    ['x', 2, 3, send('one', 'r1')],
    ['y', 4, 5, cancel(null, 1)],
    ['x', 6, 7, send('one', 'r1')],
    ['y', 8, 9, history('zero')],
  ],
  'a lost cancel drops messages, and a later read sees it': [
    ['x', 0, 1, send('zero', 'r0')],
    ['x', 2, 3, send('one', 'r1')],
    ['y', 4, undefined, lostCancel],
    ['z', 6, 7, history('zero')],
    ['z', 8, 9, queue()],
  ],
  'one of two concurrent decisions wins': [
    ['l', 0, 1, asked],
    ['x', 2, 9, decide('yes', true, 'won')],
    ['y', 3, 4, decide('no', false, 'late')],
    ['z', 5, 6, approvals()],
    ['l', 7, 10, decided(true, 'yes')],
  ],
  'a decision whose answer was lost wins': [
    ['l', 0, 1, asked],
    ['x', 2, undefined, decide('yes', true)],
    ['z', 5, 6, approvals('a')],
    ['y', 7, 8, decide('no', false, 'late')],
    ['x', 9, 10, decide('yes', true, 'won')],
    ['l', 7, 11, decided(true, 'yes')],
  ],
  'a decision wins against a cancel at the same time': [
    ['l', 0, 1, asked],
    ['x', 2, 9, cancel('a', 0)],
    ['y', 3, 10, decide('yes', true, 'won')],
    ['l', 4, 11, decided(true, 'yes')],
  ],
  'a cancel decides before a person does': [
    ['l', 0, 1, asked],
    ['x', 2, 9, cancel('a', 0)],
    ['y', 3, 10, decide('yes', true, 'late')],
    ['l', 4, 11, decided(false)],
  ],
};

/** What no correct daemon answers, and the object where it is found. */
const DEFECTS: Record<string, { rows: Row[]; what: string }> = {
  'an accepted message is lost': {
    rows: [
      ['x', 0, 1, send('one', 'r1')],
      ['y', 2, 3, send('two', 'r2')],
      ['z', 5, 6, history('two')],
    ],
    what: 'messages',
  },
  'a message is lost after a reader saw it': {
    rows: [
      ['x', 0, undefined, send('one')],
      ['z', 2, 3, queue('one')],
      ['y', 4, 5, send('two', 'r2')],
      ['z', 6, 7, queue('two')],
      ['z', 8, 9, history('two')],
    ],
    what: 'messages',
  },
  'messages begin in another order than they were accepted': {
    rows: [
      ['x', 0, 1, send('one', 'r1')],
      ['y', 2, 3, send('two', 'r2')],
      ['z', 5, 6, history('two', 'one')],
    ],
    what: 'messages',
  },
  'a repeated message gets another run': {
    rows: [
      ['x', 0, 1, send('one', 'r1')],
      ['x', 2, 3, send('one', 'r2')],
    ],
    what: 'messages',
  },
  'a repeated message is said twice': {
    rows: [
      ['x', 0, undefined, send('one')],
      ['x', 2, 3, send('one', 'r1')],
      ['z', 5, 6, history('one', 'one')],
    ],
    what: 'messages',
  },
  'two messages get the same run': {
    rows: [
      ['x', 0, 3, send('one', 'r1')],
      ['y', 1, 2, send('two', 'r1')],
    ],
    what: 'messages',
  },
  'a reader does not see a message that another reader saw before': {
    rows: [
      ['x', 0, 20, send('one', 'r1')],
      ['y', 2, 3, history('one')],
      ['z', 5, 6, history()],
    ],
    what: 'messages',
  },
  'a cancelled message runs': {
    rows: [
      ['x', 0, 1, send('zero', 'r0')],
      ['x', 2, 3, send('one', 'r1')],
      ['y', 4, 5, cancel(null, 1)],
      ['z', 8, 9, history('zero', 'one')],
    ],
    what: 'messages',
  },
  'a cancelled message runs when it is repeated': {
    rows: [
      ['x', 0, 1, send('zero', 'r0')],
      ['x', 2, 3, send('one', 'r1')],
      ['y', 4, 5, cancel(null, 1)],
      ['x', 6, 7, send('one', 'r1')],
      ['z', 8, 9, history('zero', 'one')],
    ],
    what: 'messages',
  },
  'a decision has two winners': {
    rows: [
      ['l', 0, 1, asked],
      ['x', 2, 9, decide('yes', true, 'won')],
      ['y', 3, 8, decide('no', false, 'won')],
    ],
    what: 'approval a',
  },
  'nobody wins': {
    rows: [
      ['l', 0, 1, asked],
      ['x', 2, 9, decide('yes', true, 'late')],
      ['y', 3, 8, decide('no', false, 'late')],
    ],
    what: 'approval a',
  },
  'the loser is what readers see': {
    rows: [
      ['l', 0, 1, asked],
      ['x', 2, 9, decide('yes', true, 'won')],
      ['y', 3, 8, decide('no', false, 'late')],
      ['l', 4, 10, decided(false, 'no')],
    ],
    what: 'approval a',
  },
  'a decided approval is still pending for a reader': {
    rows: [
      ['l', 0, 1, asked],
      ['x', 2, 3, decide('yes', true, 'won')],
      ['z', 5, 6, approvals('a')],
    ],
    what: 'approval a',
  },
  'an approval is pending again': {
    rows: [
      ['l', 0, 1, asked],
      ['x', 2, undefined, decide('yes', true)],
      ['y', 3, 4, decide('no', false, 'late')],
      ['z', 5, 6, approvals('a')],
    ],
    what: 'approval a',
  },
  'a decision wins after a cancel': {
    rows: [
      ['l', 0, 1, asked],
      ['x', 2, 3, cancel('a', 0)],
      ['y', 5, 6, decide('yes', true, 'won')],
    ],
    what: 'approval a',
  },
  'a cancel denies what was decided before': {
    rows: [
      ['l', 0, 1, asked],
      ['y', 2, 3, decide('yes', true, 'won')],
      ['x', 5, 6, cancel('a', 0)],
    ],
    what: 'approval a',
  },
  'a decision wins that nobody made': {
    rows: [
      ['l', 0, 1, asked],
      ['l', 2, 3, decided(true, 'yes')],
      ['x', 5, 6, decide('yes', true, 'won')],
    ],
    what: 'approval a',
  },
};

for (const [name, rows] of Object.entries(ALLOWED)) {
  test(`linearizable: ${name}`, () => {
    assert.deepEqual(unexplained(recorded(rows)), []);
  });
}

for (const [name, { rows, what }] of Object.entries(DEFECTS)) {
  test(`not linearizable: ${name}`, () => {
    assert.deepEqual(
      unexplained(recorded(rows)).map((finding) => finding.what),
      [what],
    );
  });
}
