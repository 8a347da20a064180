import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextOutput } from './run-output.ts';

function printed(answer: string, isTerminal: boolean): string {
  const written: string[] = [];
  const streams = { stdout: (text: string) => void written.push(text), stderr: () => undefined };
  const output = createTextOutput(streams, { isStreaming: false, isTerminal, size: { rows: 50, columns: 120 } });
  const run = { wsId: 'w', runId: 'r', durationMs: 1, denied: 0, exitCode: 0 };
  output.onEnd({ ...run, status: 'ok', answer });
  return written.join('');
}

test('a program gets the answer as it is; a terminal gets nothing that controls it', () => {
  const answer = 'all:\n\tcc \u200e\ufeffa.c\r\nprogress 1\rprogress 2\u001b[31m\n';
  assert.equal(printed(answer, false), answer);
  assert.equal(printed(answer, true), 'all:\n        cc a.c\nprogress 2\n');
});
