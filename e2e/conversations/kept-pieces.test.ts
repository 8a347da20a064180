import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutsBetween, findUnexplained } from './kept-pieces.ts';
import type { StoredConversation, StoredCut } from './stored-cuts.ts';

const IMAGE = Buffer.from('\x89PNG\r\n\x1a\ncontent 2', 'latin1').toString('base64');
const OUTPUT = `looked message 4 ${'x'.repeat(900)}`;

/** What is stored, and what a model was sent of it before any cut. */
const MESSAGES = [
  { seq: 1, json: '{"role":"user","content":"message 1","attachments":[{"filename":"2.png"}]}' },
  { seq: 2, json: '{"role":"assistant","content":"answer to message 3","toolCalls":[{"arguments":"message 4"}]}' },
  { seq: 3, json: `{"role":"tool","output":"${OUTPUT}"}` },
  { seq: 4, json: '{"role":"assistant","content":"answer to message 5"}' },
  { seq: 5, json: '{"role":"user","content":"message 6"}' },
];
const SENT = ['message 1', IMAGE, 'answer to message 3', 'message 4', OUTPUT, 'answer to message 5', 'message 6'];

/** What is wrong with a request after these cuts. */
function wrongAfter(cuts: readonly Partial<StoredCut>[], sent: readonly string[], contextAfter = 0) {
  const rows = cuts.map((cut, index) => ({ n: index + 1, kind: 'tools' as const, ...PLACE, ...cut }));
  const stored: StoredConversation = {
    cuts: () => rows,
    messages: () => MESSAGES,
    place: () => ({ cuts: rows.length, contextAfter, newest: 5 }),
    isAnswered: () => true,
  };
  const previous = { messages: JSON.stringify(SENT), place: { cuts: 0, contextAfter: 0, newest: 5 } };
  const next = { messages: JSON.stringify(sent), place: stored.place() };
  return findUnexplained(previous, next, { cuts: cutsBetween(previous, next, stored), stored });
}
const PLACE = { after_seq: 0, to_seq: 4, at_seq: 5 };

test('a compaction explains that its range is gone, and nothing else', () => {
  const cut = { kind: 'compaction' as const, to_seq: 3 };
  const summary = '[Summary of the conversation so far. message 1 …\n[End of the summary.]';
  assert.equal(wrongAfter([cut], [summary, 'answer to message 5', 'message 6', 'answer to message 7']), undefined);
  const lost = 'after compaction, message 6 stands in place of answer to message 5';
  assert.equal(wrongAfter([cut], [summary, 'message 6']), lost);
  const left = 'after compaction, message 1 is still sent';
  assert.equal(wrongAfter([cut], ['answer to message 5', 'message 6', 'message 1']), left);
});

test('each other kind of cut explains only what it names', () => {
  const without = (...pieces: string[]) => SENT.filter((one) => !pieces.includes(one));
  const image = 'message 6 stands in place of image 2';
  const cases: [StoredCut['kind'], readonly string[], string | undefined][] = [
    ['images', without(IMAGE), undefined],
    ['images', without(IMAGE, OUTPUT), 'after images, answer to message 5 stands in place of looked message 4'],
    ['images', SENT, 'after images, image 2 is still sent'],
    ['attachments', without(IMAGE), undefined],
    ['prune', without(OUTPUT), undefined],
    ['prune', without(IMAGE, OUTPUT), 'after prune, answer to message 3 stands in place of image 2'],
    ['unbind', SENT, undefined],
    ['unbind', without(OUTPUT), 'after unbind, answer to message 5 stands in place of looked message 4'],
    ['tools', ['message 1', 'message 6'], `after tools, ${image}`],
  ];
  assert.deepEqual(
    cases.map(([kind, sent]) => wrongAfter([{ kind }], sent)),
    cases.map(([, , wrong]) => wrong),
  );
});

test('what lies behind the end of a cut stays, and a later beginning of the context leaves only what follows it', () => {
  const { length } = SENT;
  assert.equal(
    wrongAfter([{ kind: 'prune', to_seq: 2 }], SENT.toSpliced(4, 1)),
    'after prune, answer to message 5 stands in place of looked message 4',
  );
  assert.equal(wrongAfter([], SENT.slice(length - 2), 3), undefined);
  assert.equal(
    wrongAfter([], SENT.slice(length - 1), 3),
    'after compaction, message 6 stands in place of answer to message 5',
  );
});
