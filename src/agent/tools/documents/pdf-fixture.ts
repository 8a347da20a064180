import { deflateSync } from 'node:zlib';

/** For tests: a PDF with these texts, one per page. */
export function toPdf(pages: readonly string[]): Buffer {
  const texts = pages.map((text) =>
    text
      .split('\n')
      .map((line) => `(${line.replace(/[()\\]/g, '\\$&')}) Tj 0 -20 Td`)
      .join(' '),
  );
  return toFile(
    texts.map((text) => Buffer.from(`BT /F1 12 Tf 72 700 Td ${text} ET`)),
    '',
  );
}

/** For tests: a small PDF whose only page expands to so many bytes. */
export const toPdfBomb = (bytes: number): Buffer =>
  toFile([deflateSync(Buffer.alloc(bytes, ' '))], ' /Filter /FlateDecode');

function toFile(contents: readonly Buffer[], filter: string): Buffer {
  const kids = contents.map((_, index) => `${3 + index * 2} 0 R`).join(' ');
  const objects = [
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from(`<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>`),
    ...contents.flatMap((content, index) => [
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${4 + index * 2} 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>`,
      ),
      Buffer.concat([
        Buffer.from(`<< /Length ${content.length}${filter} >>\nstream\n`),
        content,
        Buffer.from('\nendstream'),
      ]),
    ]),
  ];
  const parts = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(parts.reduce((sum, { length }) => sum + length, 0));
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n'));
  }
  const start = parts.reduce((sum, { length }) => sum + length, 0);
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF`,
    ),
  );
  return Buffer.concat(parts);
}
