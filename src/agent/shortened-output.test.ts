import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from './message.ts';
import { shortenOutput } from './shortened-output.ts';

const tool = (output: string, kept?: { name: string; bytes: number }): Message => ({
  ...{ role: 'tool', callId: 'c1', name: 'bash', output, outcome: 'done', files: { '/a': 'hash' } },
  ...(kept && { kept }),
});

test('a long output becomes a line that says how to read it; the rest of the message stays', () => {
  const line = (bytes: number) =>
    `[This output (${bytes} bytes) was taken out of the context; read_output with call_id "c1" shows it.]`;
  assert.deepEqual(shortenOutput(tool('é'.repeat(400))), tool(line(800)));
  const kept = { name: 'out_1.log', bytes: 1_000_000 };
  assert.deepEqual(shortenOutput(tool('x'.repeat(401), kept)), tool(line(1_000_000), kept));
});

test('short outputs and other messages stay as they are; a shortened output is not shortened again', () => {
  const user: Message = { role: 'user', content: 'x'.repeat(5_000) };
  for (const message of [tool('x'.repeat(400)), user, shortenOutput(tool('x'.repeat(500)))]) {
    assert.equal(shortenOutput(message), message);
  }
});
