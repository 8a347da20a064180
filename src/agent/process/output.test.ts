import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createToolFixture } from '../tools/tool-fixture.ts';
import { createOutputCollector, type OutputLimits } from './output.ts';

async function collect(parts: Iterable<string | Buffer>, limits: Partial<OutputLimits> = {}) {
  const fixture = await createToolFixture();
  const folder = join(fixture.root, 'outputs');
  const chunks: string[] = [];
  await using output = createOutputCollector({
    folder,
    name: 'out_1',
    callId: 'call_1',
    onChunk: (text) => chunks.push(text),
    limits,
  });
  for (const part of parts) await output.write(Buffer.from(part));
  const text = await output.finish();
  const files = await readdir(folder).catch(() => []);
  const kept = files.length > 0 ? await readFile(join(folder, 'out_1.log')) : undefined;
  const mode = files.length > 0 ? (await stat(join(folder, 'out_1.log'))).mode & 0o777 : undefined;
  await fixture[Symbol.asyncDispose]();
  return { text, chunks, kept, mode };
}

const lines = (from: number, to: number) => {
  let text = '';
  for (let n = from; n <= to; n += 1) text += `line ${n}\n`;
  return text;
};

test('short output is returned whole, streamed by whole lines, and not stored in a file', async () => {
  assert.deepEqual(await collect(['one\ntw', 'o\nthr', 'ee']), {
    text: 'one\ntwo\nthree',
    chunks: ['one\n', 'two\n', 'three'],
    kept: undefined,
    mode: undefined,
  });
});

test('a character split between two chunks arrives whole', async () => {
  const bytes = Buffer.from('a€𝄞\nb');
  const pieces = [...bytes].map((byte) => Buffer.from([byte]));
  const { text, chunks } = await collect(pieces);
  assert.deepEqual([text, chunks], ['a€𝄞\nb', ['a€𝄞\n', 'b']]);
});

test('a long line without an end is streamed in pieces', async () => {
  const { chunks } = await collect(['x'.repeat(3_000), 'x'.repeat(3_000), 'end\n']);
  assert.deepEqual(chunks, ['x'.repeat(6_000), 'end\n']);
});

test('output beyond the byte limit is stored in a private file, and its two ends are shown', async () => {
  const whole = lines(1, 20_000);
  const { text, kept, mode } = await collect([
    whole.slice(0, 60_000),
    whole.slice(60_000, 70_000),
    whole.slice(70_000),
  ]);
  assert.equal(kept?.toString(), whole);
  assert.equal(mode, 0o600);
  const [, head = '', leftLines, leftBytes, tail = ''] =
    /^(.*)\[\.\.\. (\d+) lines \((\d+) bytes\) left out here; the whole output is stored for people as outputs\/out_1\.log; read_output with call_id "call_1" shows it to you \.\.\.\]\n(.*)$/s.exec(
      text,
    ) ?? [];
  assert.ok(whole.startsWith(head.replace(/\n$/, '')));
  assert.ok(whole.endsWith(tail));
  assert.ok(Buffer.byteLength(text) < 64 * 1024 + 300);
  // A cut line gets our line end, so one more byte may be shown than was printed.
  const shown = head.length + tail.length;
  assert.ok([shown, shown - 1].includes(whole.length - Number(leftBytes)));
  assert.ok(Math.abs(Number(leftLines) + text.split('\n').length - 1 - 20_000) <= 2);
});

test('output beyond the line limit shows its first and last lines', async () => {
  const { text, kept } = await collect([lines(1, 10)], { maxLines: 4 });
  assert.equal(kept?.toString(), lines(1, 10));
  assert.equal(
    text,
    `${lines(1, 2)}[... 6 lines (42 bytes) left out here; the whole output is stored for people as outputs/out_1.log; read_output with call_id "call_1" shows it to you ...]\n${lines(9, 10)}`,
  );
});

test('neither end is cut inside a character', async () => {
  for (let shift = 0; shift < 4; shift += 1) {
    const { text } = await collect(['x'.repeat(shift), '€𝄞'.repeat(1_000)], { maxBytes: 101 });
    assert.doesNotMatch(text, /\ufffd/);
  }
});

test('live output stops at the limit with one notice', async () => {
  const { chunks } = await collect(
    Array.from({ length: 100 }, () => '0123456789\n'),
    { liveBytes: 50 },
  );
  assert.deepEqual(chunks, [
    ...Array.from({ length: 4 }, () => '0123456789\n'),
    '012345',
    '\n[More output follows; it is not shown live.]\n',
  ]);
});

test('the file is limited, and the notice says so', async () => {
  const { text, kept } = await collect(
    Array.from({ length: 100 }, () => '0123456789'),
    { maxBytes: 50, maxFileBytes: 85 },
  );
  assert.equal(kept?.length, 85);
  assert.match(text, /its first 85 bytes are stored for people as outputs\/out_1\.log/);
});

test('a file that cannot be written does not fail the command', async () => {
  await using fixture = await createToolFixture();
  const folder = await fixture.file('not-a-folder', '');
  const output = createOutputCollector({
    folder,
    name: 'out',
    callId: 'call_1',
    onChunk: () => undefined,
    limits: { maxBytes: 10 },
  });
  await output.write(Buffer.from('x'.repeat(100)));
  assert.match(await output.finish(), /the whole output could not be stored \(EEXIST\)/);
});

test('memory stays bounded for hundreds of megabytes in one line', async () => {
  await using fixture = await createToolFixture();
  const output = createOutputCollector({
    folder: join(fixture.root, 'o'),
    name: 'o',
    callId: 'call_1',
    onChunk: () => undefined,
  });
  const part = Buffer.alloc(1024 * 1024, 'x');
  const before = process.memoryUsage().rss;
  for (let n = 0; n < 300; n += 1) await output.write(part);
  const text = await output.finish();
  const grownMiB = (process.memoryUsage().rss - before) / 1024 / 1024;
  assert.ok(grownMiB < 64, `grew by ${grownMiB} MiB`);
  assert.ok(text.length < 66_000);
  assert.equal((await stat(join(fixture.root, 'o/o.log'))).size, 64 * 1024 * 1024);
});
