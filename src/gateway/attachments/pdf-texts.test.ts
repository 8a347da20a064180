import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PdfTexts } from './pdf-texts.ts';

const pdf = (id: string) =>
  ({ attachment_id: id, filename: `${id}.pdf`, mime_type: 'application/pdf', size_bytes: 3, kind: 'pdf' }) as const;

test('the text of a PDF is read once, until sixteen others were read; a missing file is looked for again', async () => {
  const read: string[] = [];
  let isThere = true;
  const texts = new PdfTexts({
    whole: { read: async () => (isThere ? Buffer.from('pdf') : undefined) },
    async pdfText({ name, bytes }) {
      read.push(name);
      return `${name}: ${bytes}`;
    },
  });
  const both = await Promise.all([texts.read(pdf('a')), texts.read(pdf('a'))]);
  assert.deepEqual([both.map(String), read], [['a.pdf: pdf', 'a.pdf: pdf'], ['a.pdf']]);
  for (let index = 0; index < 16; index += 1) await texts.read(pdf(`b${index}`));
  await texts.read(pdf('a'));
  assert.equal(read.filter((name) => name === 'a.pdf').length, 2);
  isThere = false;
  assert.equal(await texts.read(pdf('gone')), undefined);
  isThere = true;
  assert.equal(String(await texts.read(pdf('gone'))), 'gone.pdf: pdf');
});
