import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { toPdf } from './pdf-fixture.ts';
import { createPdfReader, readPdf } from './read-pdf.ts';

test('two PDFs are read at once; others wait, and their time begins when they are read', async () => {
  const clock = fakeClock();
  const reader = createPdfReader({ clock, workerUrl: new URL('./pdf-worker.ts', import.meta.url) });
  const { signal } = new AbortController();
  await reader.seats.take(signal);
  await reader.seats.take(signal);
  const file = { bytes: toPdf(['Hello']), shown: 'a.pdf', range: { first: 1, last: 1 } };
  const reading = readPdf(file, reader, { signal, maxOutputBytes: 10_000 });
  await clock.advance(60_000);
  assert.equal(reader.seats.waiting, 1);
  reader.seats.leave();
  assert.equal(await reading, '--- page 1 ---\nHello\n[page 1 of 1]');
  await reader.seats.take(signal); // the seat is free again
});

test('a read that is stopped while it waits gives its turn to others', async () => {
  const reader = createPdfReader({ clock: fakeClock(), workerUrl: new URL('./pdf-worker.ts', import.meta.url) });
  const stopped = new AbortController();
  await reader.seats.take(stopped.signal);
  await reader.seats.take(stopped.signal);
  const file = { bytes: toPdf(['Hello']), shown: 'a.pdf', range: { first: 1, last: 1 } };
  const reading = readPdf(file, reader, { signal: stopped.signal, maxOutputBytes: 10_000 });
  stopped.abort(new Error('stopped'));
  await assert.rejects(reading, { message: 'stopped' });
  assert.equal(reader.seats.waiting, 0);
});
