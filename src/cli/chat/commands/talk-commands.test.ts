import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryMessage, HistoryNote } from '../../../../protocol/stream-events.ts';
import { createPaint } from '../../terminal/paint.ts';
import type { TalkCommandDeps } from './talk-command.ts';
import { isTalkCommand, runTalkCommand } from './talk-commands.ts';

const TODAY = Date.UTC(2026, 11, 24, 18, 5);
const YESTERDAY = TODAY - 24 * 3_600_000;

type Page = { messages: HistoryMessage[]; notes?: HistoryNote[] };

/** Runs a line over a conversation that is stored in pages, oldest first. */
async function run(line: string, pages: Page[], options: { isPiped?: boolean; columns?: number } = {}) {
  const lines: string[] = [];
  const sequences: string[] = [];
  const deps: TalkCommandDeps = {
    talk: {
      attach: () => assert.fail('no upload'),
      exportTo: () => assert.fail('no export'),
      importFrom: async (file) => ({ ws_id: 'w2', name: file, message_count: 1, unknown_model: 'gone' }),
      async readPage(before) {
        const index = before === undefined ? pages.length - 1 : pages.findIndex((page) => first(page) === before) - 1;
        return { messages: [], truncated: index > 0, ...pages[index] };
      },
      transcript: { print: (printed) => void lines.push(...printed) },
    },
    sheet: () => ({ paint: createPaint(false), columns: options.columns ?? 80 }),
    here: () => ({ nowMs: TODAY, tz: 'Europe/Berlin' }),
    ...(!options.isPiped && { writeToTerminal: (sequence: string) => void sequences.push(sequence) }),
  };
  const error = await runTalkCommand(line, deps)?.then(
    () => undefined,
    (reason: Error) => reason.message,
  );
  return { lines, sequences, error };
}

const first = ({ messages }: Page) => messages[0]?.seq;
const user = (seq: number, content: string, more: Partial<HistoryMessage> = {}): HistoryMessage => ({
  ...{ seq, role: 'user', content, tool_calls: null, created_ms: TODAY },
  ...more,
});
const said = (seq: number, content: string | null): HistoryMessage => ({
  ...{ seq, role: 'assistant', content, tool_calls: null },
});
const clipboardOf = (sequence = '') =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence consists of them.
  Buffer.from(/^\x1b\]52;c;([^\x07]*)\x07$/.exec(sequence)?.[1] ?? '', 'base64').toString();

const PAGES: Page[] = [
  { messages: [user(1, 'first', { created_ms: YESTERDAY }), said(2, 'One.')] },
  { messages: [said(3, 'More of *one*.'), user(4, 'second\n  line', { failed: { code: 'refused', text: 'no' } })] },
  { messages: [user(10, 'third'), said(11, null), said(12, 'Let me look.'), said(13, 'Three.\tDone.\x1b[31m')] },
];

test('/messages lists the last messages of people with number, time and beginning', async () => {
  const all = ['#1  2026-12-23 19:05  first', ' #4  19:05  ✖ not answered:  second line', '#10  19:05  third'];
  assert.deepEqual((await run('/messages', PAGES)).lines, [` ${all[0]}`, all[1], all[2]]);
  assert.deepEqual((await run('/messages 1', PAGES)).lines, [all[2]]);
  const narrow = await run('/messages 1', [{ messages: [user(1, 'a long message '.repeat(5))] }], { columns: 20 });
  assert.deepEqual(narrow.lines, ['#1  19:05  a long m…']);
  assert.deepEqual((await run('/messages', [{ messages: [] }])).lines, ['(no messages yet)']);
  for (const odd of ['0', '501', 'x', '-1', '1.5'])
    assert.equal((await run(`/messages ${odd}`, PAGES)).error, 'Usage: /messages [N], with N from 1 to 500', odd);
});

test('/copy sends the whole answer to the clipboard, without control characters, and says so', async () => {
  const last = await run('/copy', PAGES);
  assert.equal(clipboardOf(last.sequences[0]), 'Let me look.\n\nThree.\tDone.');
  assert.deepEqual(last.lines, ['The last answer (26 bytes) was sent to the clipboard of the terminal.']);
  const earlier = await run('/copy 2', PAGES);
  assert.equal(clipboardOf(earlier.sequences[0]), 'One.\n\nMore of *one*.');
  assert.deepEqual(earlier.lines, ['Answer 2 from the end (20 bytes) was sent to the clipboard of the terminal.']);
});

test('/copy refuses what there is not, what is too long, and pipes, and sends nothing', async () => {
  const longest = 'x'.repeat(56_244);
  const fits = await run('/copy', [{ messages: [user(1, 'a'), said(2, longest)] }]);
  assert.ok((fits.sequences[0]?.length ?? 0) <= 74_994 + '\x1b]52;c;\x07'.length);
  const refused = await Promise.all([
    run('/copy', [{ messages: [user(1, 'a'), said(2, `${longest}x`)] }]),
    run('/copy', [{ messages: [] }]),
    run('/copy 3', PAGES),
    run('/copy 0', PAGES),
    run('/copy', PAGES, { isPiped: true }),
  ]);
  assert.deepEqual(
    refused.map(({ sequences, error }) => [sequences, error]),
    [
      'The answer is too long for the clipboard of a terminal: 56245 bytes, and at most 56244 are possible. Use /export FILE.md.',
      'No answer yet.',
      'There are fewer than 3 answers.',
      'Usage: /copy [N], with N from 1 to 100',
      '/copy needs a terminal, but stdin or stdout is a pipe or a file. To write the conversation to a file, use /export FILE.',
    ].map((error) => [[], error]),
  );
});

test('/summary prints the newest summary, wherever in the conversation it stands', async () => {
  const note = (after_seq: number, summary: string): HistoryNote => ({
    ...{ kind: 'compacted', after_seq, created_ms: TODAY, to_seq: after_seq, messages: 12, summary },
  });
  const [oldest = { messages: [] }, ...later] = PAGES;
  const pages = [{ ...oldest, notes: [note(1, 'Old.'), note(2, '## Goal\n\n- a *garden*')] }, ...later];
  assert.deepEqual((await run('/summary', pages)).lines, [
    'Summary of 12 messages, 19:05:',
    '',
    'Goal',
    '',
    '• a garden',
  ]);
  assert.deepEqual((await run('/summary', PAGES)).lines, ['(No messages have been summarized. /compact does it.)']);
  assert.equal((await run('/summary 2', PAGES)).error, 'Usage: /summary');
});

test('/import names the new workstream, and what it lacks', async () => {
  assert.deepEqual((await run('/import "my garden.json"', [])).lines, [
    'Imported 1 message as my garden.json. Continue with: headgate chat --ws w2',
    'Unknown model "gone": the default model is used.',
  ]);
  assert.equal((await run('/import', [])).error, 'Usage: /import FILE');
});

test('only commands of the terminal are run here', () => {
  assert.deepEqual(
    ['/copy', '/copy 2', '/copyright', '/toString', '/model', 'copy', '/messages\n3'].map(isTalkCommand),
    [true, true, false, false, false, false, true],
  );
});
