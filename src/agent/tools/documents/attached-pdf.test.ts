import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { createPdfText } from './attached-pdf.ts';
import { toPdf } from './pdf-fixture.ts';
import { createPdfReader } from './read-pdf.ts';

const workerUrl = new URL('./pdf-worker.ts', import.meta.url);
const pdfText = createPdfText(createPdfReader({ clock: systemClock, workerUrl }));

test('an attached PDF is read from its first page, and names what is left out; a damaged one says so', async () => {
  const long = toPdf(Array.from({ length: 21 }, (_, index) => `Page number ${index + 1}`));
  const text = await pdfText({ name: 'long.pdf', bytes: long });
  assert.match(
    text,
    /^--- page 1 ---\nPage number 1\n[\s\S]*Page number 20\n\[pages 1 to 20 of 21; the rest is not shown\]$/,
  );
  assert.equal(
    await pdfText({ name: 'bad.pdf', bytes: Buffer.from('%PDF-1.7\n') }),
    '[bad.pdf is damaged: it cannot be read as a PDF.]',
  );
});
