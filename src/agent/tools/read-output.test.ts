import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StopReason } from '../stop-reason.ts';
import { createReadOutputTool, type FoundOutput } from './read-output.ts';
import { createToolFixture, execute, recordRun } from './tool-fixture.ts';

const ENOUGH = 64 * 1024;

const TAINT = { kind: 'network', target: 'example.com' } as const;

/** The tool over one known call, whose output comes in these pieces. */
async function read(
  pieces: readonly string[] | 'expired',
  args: { call_id?: string; offset?: number; limit?: number } = {},
  maxOutputBytes = ENOUGH,
) {
  await using fixture = await createToolFixture();
  const asked: string[] = [];
  const tool = createReadOutputTool({
    async open(wsId, callId): Promise<FoundOutput> {
      asked.push(wsId);
      if (callId !== 'call-0') return { kind: 'unknown' };
      return pieces === 'expired'
        ? { kind: 'expired' }
        : { kind: 'found', pieces: pieces.map((one) => Buffer.from(one)), taint: TAINT };
    },
  });
  const prepared = await tool.prepare({ call_id: 'call-0', offset: 1, limit: 2_000, ...args }, fixture.context());
  const outcome = await execute(prepared, { ...recordRun(), maxOutputBytes });
  assert.deepEqual(asked, ['ws-1'], 'only outputs of its own workstream');
  return outcome;
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');

test('it never asks, and changes nothing', async () => {
  await using fixture = await createToolFixture();
  const tool = createReadOutputTool({ open: async () => ({ kind: 'unknown' }) });
  const prepared = await tool.prepare({ call_id: 'call-0', offset: 7, limit: 1 }, fixture.context());
  assert.equal(prepared.kind === 'ready' && prepared.needsApproval, false);
  assert.deepEqual([prepared.subject, tool.readOnly, tool.safeToRepeat], ['call-0, from line 7', true, true]);
});

test('lines of a long output are shown by number, however its pieces are cut', async () => {
  const { output, outcome } = await read([lines(1, 500).slice(0, 17), lines(1, 500).slice(17)], { offset: 499 });
  assert.deepEqual([outcome, output], ['done', '   499\tline 499\n   500\tline 500\n[lines 499 to 500 of 500]']);
});

test('a page ends at the share of the window, and the last line says how to go on', async () => {
  const { output } = await read([lines(1, 1_000)], { offset: 10 }, 100);
  assert.match(output, /^ {4}10\tline 10\n/);
  assert.match(output, /\[lines 10 to 15 of 1000; offset 16 shows the rest\]$/);
  assert.ok(Buffer.byteLength(output) < 200);
});

test('every page of a long output together gives all of it', async () => {
  const whole = lines(1, 300);
  let shown = '';
  for (let offset = 1; offset <= 300; ) {
    const { output } = await read([whole], { offset }, 1_000);
    const page = output.split('\n').filter((line) => !line.startsWith('['));
    shown += page.map((line) => `${line.slice(line.indexOf('\t') + 1)}\n`).join('');
    offset += page.length;
  }
  assert.equal(shown, whole);
});

test('a line longer than 4 KiB counts as several, and no character is cut', async () => {
  const whole = 'é'.repeat(10_000);
  const { output } = await read([whole.slice(0, 3_001), whole.slice(3_001)]);
  const shown = output.split('\n').map((line) => line.slice(line.indexOf('\t') + 1));
  assert.deepEqual([shown.length, shown.join('')], [5, whole]);
});

test('an unknown id, an expired output and the end of the output are explained', async () => {
  assert.deepEqual(await read([], { call_id: 'x' }), {
    output: 'No finished call of this conversation has the id "x".',
    outcome: 'failed',
  });
  assert.match((await read('expired')).output, /expired/);
  assert.equal((await read(['a\n'], { offset: 9 })).output, '[there are only 1 lines]');
});

test('it stops when the run is cancelled', async () => {
  await using fixture = await createToolFixture();
  const tool = createReadOutputTool({ open: async () => ({ kind: 'found', pieces: [Buffer.from('a')] }) });
  const prepared = await tool.prepare({ call_id: 'call-0', offset: 1, limit: 1 }, fixture.context());
  const stop = AbortSignal.abort(new StopReason('cancel', 'stop'));
  assert.equal((await execute(prepared, recordRun(stop))).outcome, 'cancelled');
});

test('an output taints the conversation as the call did that it is of', async () => {
  assert.deepEqual((await read(['one\n'])).taint, TAINT);
});
